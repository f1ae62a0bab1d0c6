/**
 * Regular expressions in RE2's syntax, compiled and compared in a worker thread. The time is linear in the text for any
 * expression, and a slow one delays neither writers nor the bus.
 *
 * Texts are sent in turns, so concurrent callers wait at most one turn of each other. A budget counts the thread's
 * processor time for one caller only.
 */
import { WorkerCall } from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";

export type MatchQuestion = {
  readonly patterns: readonly string[];
  readonly texts: readonly string[];
};
export type MatchAnswer = {
  /** The numbers of the matching texts, for each pattern. */
  readonly found: readonly (readonly number[])[];
  /**
   * The reason why a pattern is invalid or too large, for each pattern; null for a valid one. An invalid pattern
   * matches no text.
   */
  readonly problems: readonly (string | null)[];
  /** The processor time used. */
  readonly ms: number;
};

export type Matched = {
  /** The numbers of the matching texts, in ascending order. */
  readonly found: readonly number[];
  /** The number of compared texts, from the first; at least one. */
  readonly compared: number;
  readonly ms: number;
};

export type FirstMatches = {
  /** The number of the first matching text, for each pattern; undefined for none. */
  readonly found: readonly (number | undefined)[];
  /** The reason why a pattern was not compared, for each pattern; null for a compared one. */
  readonly problems: readonly (string | null)[];
  /** The number of texts left when the time ran out. */
  readonly unmatched: number;
};

export class Patterns implements AsyncDisposable {
  readonly #thread: WorkerCall<MatchQuestion, MatchAnswer>;

  /** `task` completes the sentence "the thread that … ended". */
  constructor(task: string) {
    this.#thread = new WorkerCall(new URL("./pattern-worker.ts", import.meta.url), task);
  }

  /** Returns the reason why a text is an invalid or too large expression; null for a valid one. */
  async problem(pattern: string): Promise<string | null> {
    const { problems } = await this.#thread.ask({ patterns: [pattern], texts: [] });
    return problems[0] ?? null;
  }

  /** Stops after the turn in which the budget is used up. */
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

  /** Stops after the turn in which the budget is used up, or as soon as every pattern has a match. */
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

/** The end index of the turn that begins at `from`; a turn has at least one text. */
function turnEnd(texts: readonly string[], from: number): number {
  let characters = 0;
  for (let index = from; index < texts.length; index += 1) {
    characters += texts[index]?.length ?? 0;
    if (index > from && characters > logsLimits.matchedBytesPerTurnMax) return index;
  }
  return texts.length;
}
