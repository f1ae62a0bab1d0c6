import { expect, test } from "vitest";
import { judge } from "./judge.ts";

/** Worlds that a short run visits; `npm run campaign -- sim` visits many more. */
const worlds = 8;

test.each(Array.from({ length: worlds }, (_, n) => n + 1))(
  "world %i: every experiment ends, and the log holds nothing that may not be",
  async (seed) => {
    const { violations } = await judge(seed);
    expect(violations, `seed ${seed}`).toEqual([]);
  },
  30_000,
);
