import { expect, test } from "vitest";
import { hazardWorlds, judgeHazardWorld } from "./hazard-worlds.ts";

/** The seeds of each hazard; the campaign uses many more. */
const seeds = [3];

test.each(hazardWorlds.map((world) => [world.name, world] as const))(
  "%s: every experiment ends, nobody is lost, and the log holds nothing that may not be",
  async (_, world) => {
    for (const seed of seeds) {
      expect(await judgeHazardWorld(world, seed), `seed ${seed}`).toEqual([]);
    }
  },
  240_000,
);
