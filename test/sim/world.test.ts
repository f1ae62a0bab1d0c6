import { expect, test } from "vitest";
import { judge } from "./judge.ts";

/** Worlds that a short run visits of each kind; `npm run campaign -- sim` visits many more. */
const worlds = 6;
const seeds = Array.from({ length: worlds }, (_, n) => n + 1);

test.each(seeds)(
  "world %i: every experiment ends, and the log holds nothing that may not be",
  async (seed) => {
    const { violations } = await judge(seed);
    expect(violations, `seed ${seed}`).toEqual([]);
  },
  60_000,
);

test.each(seeds)(
  "world %i with the scheduler and agents: the same, and no slot is given twice",
  async (seed) => {
    const { violations } = await judge(seed, true);
    expect(violations, `seed ${seed}, with the scheduler`).toEqual([]);
  },
  60_000,
);
