/**
 * Wrong wall clocks: each host's clock is ahead or behind by its own offset, which may change at any time. The
 * monotonic clock and timers are correct everywhere.
 */
import type { Clock } from "@trainyard/kernel";
import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";

const hourMs = 3_600_000;
/** The offsets of wrong clocks. */
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

/** A host's clock, which jumps at random until a given time. */
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
