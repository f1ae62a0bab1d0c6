/** Counts the parked events and actions of a service now and then, while this replica is the one that decides. */
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";

export type ParkedCountDeps = {
  /** The service, whose name is that of its consumer. */
  readonly name: string;
  readonly log?: Pick<EventLog, "parked"> | undefined;
  readonly clock: Clock;
  readonly decides: () => boolean;
};

export class ParkedCount {
  readonly #deps: ParkedCountDeps;
  #nextMs = Number.NEGATIVE_INFINITY;
  #count: number | null = null;

  constructor(deps: ParkedCountDeps) {
    this.#deps = deps;
  }

  get count(): number | null {
    return this.#deps.decides() ? this.#count : null;
  }

  async look(): Promise<void> {
    const { name, log, clock, decides } = this.#deps;
    if (log === undefined || !decides() || clock.monotonicMs() < this.#nextMs) return;
    this.#nextMs = clock.monotonicMs() + runtimeLimits.parkedLookMs;
    // While the database is away, which its link shows, the count stays.
    this.#count = (await log.parked(name).catch(() => null))?.length ?? this.#count;
  }
}
