import { expect, test } from "vitest";
import { judge } from "./judge.ts";

/** The number of worlds of each kind in a short run; `npm run campaign -- sim` runs many more. */
const worlds = 6;
const seeds = Array.from({ length: worlds }, (_, n) => n + 1);

test.each(seeds)(
  "world %i: every experiment ends, and the log has no violation",
  async (seed) => {
    const { violations } = await judge(seed);
    expect(violations, `seed ${seed}`).toEqual([]);
  },
  60_000,
);

test.each(seeds)(
  "world %i with the real scheduler and agents: every experiment ends, and no slot is given twice",
  async (seed) => {
    const { violations } = await judge(seed, true);
    expect(violations, `seed ${seed}, with the scheduler`).toEqual([]);
  },
  60_000,
);
