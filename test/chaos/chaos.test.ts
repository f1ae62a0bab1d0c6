import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { World } from "../world/world.ts";
import { killAll } from "./kill-all.ts";
import { killEach, parts } from "./kill-each.ts";
import { natsAway, natsWiped, startWorld } from "./nats-away.ts";
import { trialsOfShortSearch as trials } from "./search-under-test.ts";

const slow = 1_200_000;
const log = (): void => {};

test(
  "after kill -9 of each part the search completes, with each metric exactly once, and no trial runs twice at a time",
  async () => {
    const { violations, killed } = await killEach({
      seed: 7,
      rounds: 1,
      stepSeconds: 1.2,
      trials,
      log,
    });
    expect(violations).toEqual([]);
    expect(killed).toBe(parts.length);
  },
  slow,
);

test(
  "after kill -9 of all parts at once the next up takes over, and the running trials continue",
  async () => {
    const { violations, again } = await killAll({ seed: 6, stepSeconds: 0.3, trials });
    expect(violations).toEqual([]);
    // The trials' supervisors and processes were not killed, so no trial needed a second run.
    expect(again).toEqual([]);
  },
  slow,
);

describe("on one cluster", () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test(
    "nothing is lost when NATS loses its data folder twice",
    async () => {
      expect(await natsWiped(world, { seed: 8, stepSeconds: 0.2, trials, log })).toEqual([]);
    },
    slow,
  );

  test(
    "during an outage of NATS no agent is lost and trials train on, and afterwards nothing is missing",
    async () => {
      const options = { seed: 9, stepSeconds: 0.2, trials, awayMs: 20_000, log };
      expect(await natsAway(world, options)).toEqual([]);
    },
    slow,
  );
});
