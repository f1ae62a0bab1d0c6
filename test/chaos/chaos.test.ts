import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { World } from "../world/world.ts";
import { killAll } from "./kill-all.ts";
import { killEach, parts } from "./kill-each.ts";
import { natsAway, natsWiped, startWorld } from "./nats-away.ts";
import { trialsOfShortSearch as trials } from "./search-under-test.ts";

const slow = 1_200_000;
const log = (): void => {};

test(
  "kill -9 of each part once: the search completes, each metric exactly once, no trial twice at a time",
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
  "kill -9 of everything at once: up takes over, and the trials that ran live on",
  async () => {
    const { violations, again } = await killAll({ seed: 6, stepSeconds: 0.3, trials });
    expect(violations).toEqual([]);
    // Their supervisors and processes were not among what was killed: no trial needed a second run.
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
    "NATS loses its data folder twice: nothing is missing",
    async () => {
      expect(await natsWiped(world, { seed: 8, stepSeconds: 0.2, trials, log })).toEqual([]);
    },
    slow,
  );

  test(
    "NATS is away: no agent is lost, trials train on, nothing is missing afterwards",
    async () => {
      const options = { seed: 9, stepSeconds: 0.2, trials, awayMs: 20_000, log };
      expect(await natsAway(world, options)).toEqual([]);
    },
    slow,
  );
});
