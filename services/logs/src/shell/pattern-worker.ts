/** The thread of `patterns.ts`. Expressions are compiled once, and the least recently used is forgotten. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { RE2JS } from "re2js";
import { logsLimits } from "../limits.ts";
import type { MatchAnswer, MatchQuestion } from "./patterns.ts";

class Expressions {
  readonly #compiled = new Map<string, RE2JS>();

  get(pattern: string): RE2JS {
    const expression = this.#compiled.get(pattern) ?? RE2JS.compile(pattern);
    this.#compiled.delete(pattern);
    this.#compiled.set(pattern, expression);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > logsLimits.compiledMax && oldest !== undefined) {
      this.#compiled.delete(oldest);
    }
    return expression;
  }
}

const expressions = new Expressions();

answerCalls<MatchQuestion, MatchAnswer>(({ patterns, texts }) =>
  patterns.map((pattern) => {
    const expression = expressions.get(pattern);
    return texts.flatMap((text, index) => (expression.test(text) ? [index] : []));
  }),
);
