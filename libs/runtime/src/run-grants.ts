/**
 * Tells whether the log has the event that granted a run. A log that was restored or failed over with loss may give the
 * run's id again, so a token that is signed correctly may belong to a lost run.
 *
 * Grants that the log has are cached. At most once in `grantsConfirmedMs` the newest of them is looked up: a log that
 * has it there has all events before it. If it is gone, the log went back, and the cache is cleared. A log that goes
 * back is therefore noticed within that time; a writer that must not err names the grant in its commit (`seen`).
 */
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import { eventAt } from "./history/event-cursor.ts";
import { runtimeLimits } from "./limits.ts";
import { Problem } from "./problem.ts";
import type { RunTokenContent } from "./run-token.ts";

/**
 * `lost`: another event is at the position, so the run belongs to a history that the log has lost. `not_yet`: the log
 * ends before the position.
 */
export type GrantState = "held" | "lost" | "not_yet";

export class RunGrants {
  readonly #log: EventLog;
  readonly #clock: Clock;
  /** The ids of grants that the log has. */
  readonly #known: LRUCache<string, true>;
  #newest: RunTokenContent | null = null;
  #confirmedMs = Number.NEGATIVE_INFINITY;
  #confirming: Promise<void> | null = null;
  /** The number of times that the log was found to have gone back. */
  #rewinds = 0;

  constructor(log: EventLog, clock: Clock, knownMax: number = runtimeLimits.grantsKnownMax) {
    this.#log = log;
    this.#clock = clock;
    this.#known = new LRUCache({ maxSize: knownMax, sizeCalculation: () => 1 });
  }

  /** Changes when the log was found to have gone back: what was read of it before may be lost. */
  get rewinds(): number {
    return this.#rewinds;
  }

  async stateOf(grant: RunTokenContent): Promise<GrantState> {
    const isDue = this.#clock.monotonicMs() - this.#confirmedMs >= runtimeLimits.grantsConfirmedMs;
    if (isDue) this.#confirming ??= this.#confirm().finally(() => (this.#confirming = null));
    await this.#confirming;
    return this.#known.get(grant.grantId) === true ? "held" : this.ask(grant);
  }

  /** Asks the log itself. */
  async ask(grant: RunTokenContent): Promise<GrantState> {
    const { grantPosition, grantId } = grant;
    const rewinds = this.#rewinds;
    const found = await eventAt(this.#log, grantPosition);
    if (found === null) return "not_yet";
    if (found.id !== grantId) return "lost";
    if (rewinds === this.#rewinds) {
      this.#known.set(grantId, true);
      if ((this.#newest?.grantPosition ?? 0) < grantPosition) this.#newest = grant;
    }
    return "held";
  }

  /** Throws a Problem unless the log has the grant: 410 for a lost run, 503 if the log may still get it. */
  async require(grant: RunTokenContent): Promise<void> {
    const state = await this.stateOf(grant);
    if (state === "lost") throw lostRun(grant.allocation);
    if (state === "not_yet") {
      const detail = `the log ends before position ${grant.grantPosition}, where run ${grant.allocation} was granted; try again`;
      throw new Problem(503, "unavailable", detail);
    }
  }

  async #confirm(): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    const newest = this.#newest;
    if (newest !== null && (await this.ask(newest)) !== "held") {
      this.#rewinds += 1;
      this.#newest = null;
      this.#known.clear();
    }
    this.#confirmedMs = startMs;
  }
}

/** The code of an answer to a run of a lost history. It is final: the sender keeps its data and stops. */
export const historyLost = "history_lost";

export function lostHistoryDetail(run: string): string {
  return `this run's history is lost: the log, which was restored from a backup or failed over with loss, does not have the event that granted run ${run}`;
}

export function lostRun(run: string): Problem {
  return new Problem(410, historyLost, lostHistoryDetail(run));
}
