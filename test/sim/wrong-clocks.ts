/**
 * Wall clocks that are wrong: each host's is ahead or behind by a distance of its own, which may change at any moment.
 * What passes between two moments (the monotonic clock, timers) is right everywhere.
 */
import type { Clock } from "@trainyard/kernel";
import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";

const hourMs = 3_600_000;
/** Where a wrong clock is. */
export const distances = [0, hourMs, -hourMs, 26 * hourMs, -600_000] as const;

export class WallClock implements Clock {
  readonly #clock: Clock;
  aheadMs: number;

  constructor(clock: Clock, aheadMs = 0) {
    this.#clock = clock;
    this.aheadMs = aheadMs;
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.aheadMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  timer(afterMs: number, callback: () => void): Disposable {
    return this.#clock.timer(afterMs, callback);
  }
}

/** A host's clock and when it jumps, until a time from which on it stays as it is. */
export function wanderingClock(clock: ManualClock, chance: Chance, untilMs: number): WallClock {
  const wall = new WallClock(clock, chance.pick(distances));
  const next = (): void => {
    if (clock.monotonicMs() > untilMs) return;
    clock.timer(chance.between(3_000, 60_000), () => {
      wall.aheadMs = chance.pick(distances);
      next();
    });
  };
  next();
  return wall;
}
