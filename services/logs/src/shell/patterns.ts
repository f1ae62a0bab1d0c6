/**
 * Regular expressions in RE2's syntax, compiled and compared in a thread of their own: the time is linear in the text
 * for any of them, and a slow one holds up neither the writers nor the bus. Texts are handed over a turn at a time, so
 * that of several that ask none waits longer than a turn of each other. A budget is of the thread's own processor time:
 * what others take of it does not count.
 */
import { WorkerCall } from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";

export type MatchQuestion = {
  readonly patterns: readonly string[];
  readonly texts: readonly string[];
};
export type MatchAnswer = {
  /** Has for each pattern the numbers of the texts that match it. */
  readonly found: readonly (readonly number[])[];
  /**
   * Has for each pattern the reason why it is no expression or too large, so that no text matches it; null for a valid
   * one.
   */
  readonly problems: readonly (string | null)[];
  /** The processor time that this took. */
  readonly ms: number;
};

export type Matched = {
  /** The numbers of the texts in which the pattern is found, in ascending order. */
  readonly found: readonly number[];
  /** How many texts were compared, from the first; at least one. */
  readonly compared: number;
  readonly ms: number;
};

export type FirstMatches = {
  /** Has for each pattern the number of the first text that matches it; undefined for none. */
  readonly found: readonly (number | undefined)[];
  /** Has for each pattern the reason why it was not compared; null for one that was. */
  readonly problems: readonly (string | null)[];
  /** How many texts were left when the time was over. */
  readonly unmatched: number;
};

export class Patterns implements AsyncDisposable {
  readonly #thread: WorkerCall<MatchQuestion, MatchAnswer>;

  /** `task` completes the sentence "the thread that … ended". */
  constructor(task: string) {
    this.#thread = new WorkerCall(new URL("./pattern-worker.ts", import.meta.url), task);
  }

  /** Why a text is no expression, or too large a one; null when it is one. */
  async problem(pattern: string): Promise<string | null> {
    const { problems } = await this.#thread.ask({ patterns: [pattern], texts: [] });
    return problems[0] ?? null;
  }

  /** Ends after the turn in which the budget is used up. */
  async match(pattern: string, texts: readonly string[], budgetMs: number): Promise<Matched> {
    const found: number[] = [];
    let [compared, ms] = [0, 0];
    while (compared < texts.length && (compared === 0 || ms < budgetMs)) {
      const from = compared;
      compared = turnEnd(texts, from);
      const turn = await this.#thread.ask({
        patterns: [pattern],
        texts: texts.slice(from, compared),
      });
      for (const index of turn.found[0] ?? []) found.push(from + index);
      ms += turn.ms;
    }
    return { found, compared, ms };
  }

  /** Ends after the turn in which the budget is used up, or as soon as all patterns are found. */
  async matchFirst(
    patterns: readonly string[],
    texts: readonly string[],
    budgetMs: number,
  ): Promise<FirstMatches> {
    const found: (number | undefined)[] = patterns.map(() => undefined);
    const problems: (string | null)[] = patterns.map(() => null);
    let [compared, ms] = [0, 0];
    while (compared < texts.length) {
      const missing = [...patterns.keys()].filter(
        (number) => found[number] === undefined && problems[number] === null,
      );
      if (missing.length === 0) break;
      if (ms >= budgetMs) return { found, problems, unmatched: texts.length - compared };
      const from = compared;
      compared = turnEnd(texts, from);
      const asked = missing.map((number) => patterns[number] ?? "");
      const turn = await this.#thread.ask({ patterns: asked, texts: texts.slice(from, compared) });
      for (const [place, number] of missing.entries()) {
        const first = turn.found[place]?.[0];
        if (first !== undefined) found[number] = from + first;
        problems[number] = turn.problems[place] ?? null;
      }
      ms += turn.ms;
    }
    return { found, problems, unmatched: 0 };
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
