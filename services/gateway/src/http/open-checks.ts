/**
 * Checks what open streams and downloads were allowed for again: after events that change rights, and rarely without
 * one. The checks of all calls run in one loop, some at a time. A check that fails because nobody can tell now is
 * repeated.
 */
import { categoryOf, type Clock, pause } from "@trainyard/kernel";
import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { Logger, Loop } from "@trainyard/runtime";
import { httpLimits } from "./limits.ts";
import { Problem } from "./problem.ts";

export type OpenCheck = Disposable & {
  /** Aborts with the Problem that the check threw. */
  readonly refused: AbortSignal;
};

type Open = { readonly check: () => Promise<void>; readonly ended: AbortController };

const categories: ReadonlySet<string> = new Set(["access", "user"]);
const moves: ReadonlySet<string> = new Set(["ExperimentMoved", "ModelMoved"]);

/** The time between an event that changes rights and the checks. */
const openChecksRestMs = 200;

/** The checks that run at once. */
const checksAtOnce = 32;

export class OpenChecks implements Loop {
  readonly #deps: { readonly clock: Clock; readonly logger: Logger };
  readonly #open = new Set<Open>();
  #woken = new AbortController();

  constructor(deps: { readonly clock: Clock; readonly logger: Logger }) {
    this.#deps = deps;
  }

  /** Repeats a check until it is disposed. A Problem below 500 is a refusal. */
  begin(check: () => Promise<void>): OpenCheck {
    const one = { check, ended: new AbortController() };
    this.#open.add(one);
    return {
      refused: one.ended.signal,
      [Symbol.dispose]: () => void this.#open.delete(one),
    };
  }

  /** Checks soon after an event that may have changed rights. */
  observed({ stream, type }: Pick<StoredEvent, "stream" | "type">): void {
    if (categories.has(categoryOf(stream)) || moves.has(shortNameOf(type))) this.#woken.abort();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const { openChecksAgainMs, openChecksIdleMs } = httpLimits;
    for (let isAgain = false; !signal.aborted; ) {
      const wake = AbortSignal.any([signal, this.#woken.signal]);
      await pause(clock, isAgain ? openChecksAgainMs : openChecksIdleMs, wake);
      isAgain = this.#woken.signal.aborted;
      // Further events of a moment are checked together.
      if (isAgain) await pause(clock, openChecksRestMs, signal);
      this.#woken = new AbortController();
      const all = [...this.#open];
      for (let at = 0; at < all.length && !signal.aborted; at += checksAtOnce) {
        const some = all.slice(at, at + checksAtOnce);
        const known = await Promise.all(some.map((one) => this.#look(one)));
        isAgain ||= known.includes(false);
      }
    }
  }

  /** Returns whether the check had an answer. */
  async #look({ check, ended }: Open): Promise<boolean> {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) {
        this.#deps.logger.warn({ err: error }, "open_call_unchecked");
        return false;
      }
      ended.abort(error);
    }
    return true;
  }
}
