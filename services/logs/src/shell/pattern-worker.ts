/** The worker thread of `patterns.ts`. It caches compiled expressions and evicts the least recently used. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { RE2JS, RE2JSException } from "re2js";
import { logsLimits } from "../limits.ts";
import type { MatchAnswer, MatchQuestion } from "./patterns.ts";

/** A compiled expression, or the reason why a text is not one. */
type Compiled = RE2JS | string;

class Expressions {
  readonly #compiled = new Map<string, Compiled>();

  get(pattern: string): Compiled {
    const expression = this.#compiled.get(pattern) ?? compiled(pattern);
    this.#compiled.delete(pattern);
    this.#compiled.set(pattern, expression);
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size > logsLimits.compiledMax && oldest !== undefined) {
      this.#compiled.delete(oldest);
    }
    return expression;
  }
}

function compiled(pattern: string): Compiled {
  try {
    const expression = RE2JS.compile(pattern);
    if (expression.programSize() <= logsLimits.patternInstructionsMax) return expression;
    return "it is too large; use a simpler one";
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

const expressions = new Expressions();

function found(expression: Compiled, texts: readonly string[]): readonly number[] {
  if (typeof expression === "string") return [];
  return texts.flatMap((text, index) => (expression.test(text) ? [index] : []));
}

answerCalls<MatchQuestion, MatchAnswer>(({ patterns, texts }) => {
  const before = process.threadCpuUsage();
  const all = patterns.map((pattern) => expressions.get(pattern));
  const answer = {
    found: all.map((expression) => found(expression, texts)),
    problems: all.map((expression) => (typeof expression === "string" ? expression : null)),
  };
  const { user, system } = process.threadCpuUsage(before);
  return { ...answer, ms: (user + system) / 1_000 };
});
