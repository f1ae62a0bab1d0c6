/**
 * Regular expressions in RE2's syntax, compared in a thread of their own: the time is linear in the text for any of them,
 * and a slow one holds up neither the writers nor the bus. Texts are handed over a turn at a time, so that of several that
 * ask none waits longer than a turn of each other.
 */
import { RE2JS, RE2JSException } from "re2js";
import { WorkerCall } from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";

export type MatchQuestion = {
  readonly patterns: readonly string[];
  readonly texts: readonly string[];
};
/** For each pattern the numbers of the texts in which it is found. */
export type MatchAnswer = readonly (readonly number[])[];

/** Why a text is no expression; null when it is one. */
export function patternProblem(pattern: string): string | null {
  try {
    RE2JS.compile(pattern);
    return null;
  } catch (error) {
    if (error instanceof RE2JSException) return error.message;
    throw error;
  }
}

export class Patterns implements AsyncDisposable {
  readonly #thread: WorkerCall<MatchQuestion, MatchAnswer>;

  /** `task` completes the sentence "the thread that … ended". */
  constructor(task: string) {
    this.#thread = new WorkerCall(new URL("./pattern-worker.ts", import.meta.url), task);
  }

  /** For each pattern the numbers of the texts in which it is found, rising. */
  async match(patterns: readonly string[], texts: readonly string[]): Promise<MatchAnswer> {
    const found: number[][] = patterns.map(() => []);
    for (let from = 0; from < texts.length; ) {
      const end = turnEnd(texts, from);
      const answer = await this.#thread.ask({ patterns, texts: texts.slice(from, end) });
      for (const [number, indices] of answer.entries()) {
        found[number]?.push(...indices.map((index) => from + index));
      }
      from = end;
    }
    return found;
  }

  /**
   * For each pattern the number of the first text in which it is found; undefined for none. What is left after `budgetMs` is
   * not compared: how many texts that are.
   */
  async matchFirst(
    patterns: readonly string[],
    texts: readonly string[],
    budgetMs: number,
  ): Promise<{ readonly found: readonly (number | undefined)[]; readonly unmatched: number }> {
    const found: (number | undefined)[] = patterns.map(() => undefined);
    const beganMs = performance.now();
    for (let from = 0; from < texts.length; ) {
      const missing = [...patterns.keys()].filter((number) => found[number] === undefined);
      if (missing.length === 0) break;
      if (performance.now() - beganMs > budgetMs) return { found, unmatched: texts.length - from };
      const end = turnEnd(texts, from);
      const asked = missing.map((number) => patterns[number] ?? "");
      const answer = await this.#thread.ask({ patterns: asked, texts: texts.slice(from, end) });
      for (const [place, number] of missing.entries()) {
        const first = answer[place]?.[0];
        if (first !== undefined) found[number] = from + first;
      }
      from = end;
    }
    return { found, unmatched: 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]();
  }
}

/** The first text that is of the next turn; a turn has one at least. */
function turnEnd(texts: readonly string[], from: number): number {
  let characters = 0;
  for (let index = from; index < texts.length; index += 1) {
    characters += texts[index]?.length ?? 0;
    if (index > from && characters > logsLimits.matchedBytesPerTurnMax) return index;
  }
  return texts.length;
}
