/** Tests in which parts die and are started again by the supervisor, or all of them by a person. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thousand } from "../search-1000/thousand.ts";
import { World } from "../world/world.ts";
import { killAll } from "./kill-all.ts";
import { killEach, parts } from "./kill-each.ts";
import { shortSearch } from "./search-under-test.ts";

const slow = 1_200_000;
const log = (): void => {};

test(
  "after kill -9 of all parts at once the next up starts them again, and the running trials continue",
  async () => {
    const { violations, again } = await killAll({ ...shortSearch, seed: 6, stepSeconds: 0.6 });
    expect(violations).toEqual([]);
    // The trials' supervisors and processes were not killed, so no trial needed a second run.
    expect(again).toEqual([]);
  },
  slow,
);

/** A process per service: to start them takes longer than most of what the tests do. */
describe("on a cluster that starts dead parts again", () => {
  const slots = 3;
  let world: World;

  beforeAll(async () => {
    world = await World.start({ processes: true, slots });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test(
    "after kill -9 of each part the search completes, with each metric exactly once, and no trial runs twice at a time",
    async () => {
      // Thirteen parts are back, each followed by a validation, long before these steps would end.
      const options = { ...shortSearch, steps: 60, seed: 7, rounds: 1, stepSeconds: 3, log };
      const { violations, killed } = await killEach(world, options);
      expect(violations).toEqual([]);
      expect(killed).toBe(parts.length);
    },
    slow,
  );

  test(
    "a searcher that is killed during a search decides as an undisturbed one, and keeps up",
    async () => {
      const options = { trials: 8, slots, seed: 5, log };
      const { violations, lag, takeover } = await thousand(world, options);
      expect(violations).toEqual([]);
      expect(lag.reports + takeover.reports).toBeGreaterThan(7);
    },
    slow,
  );
});
