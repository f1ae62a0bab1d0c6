import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { World } from "../world/world.ts";
import { endAway, type Farewell, startWorld } from "./end-away.ts";

const slow = 1_200_000;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const stored = { checkpoints: ["COMPLETED"], downloaded: '{"step": 7}' };

describe("while the gateway is away", () => {
  let farewells: readonly Farewell[] = [];

  beforeAll(async () => {
    farewells = await endAway(world, "gateway", [0, 3]);
  }, slow);

  test("a run that ends has a complete last checkpoint afterwards, which can be downloaded", () => {
    expect(farewells[0]).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  });

  test("the run after a failed one waits for its last checkpoint, and starts from it", () => {
    const starts = ["starts at 0", "starts at 7"];
    expect(farewells[1]).toEqual({ state: "COMPLETED", starts, ...stored });
  });
});

test(
  "a run that ends while PostgreSQL is down has a complete last checkpoint afterwards, which can be downloaded",
  async () => {
    const farewells = await endAway(world, "postgres", [0]);
    expect(farewells).toEqual([{ state: "COMPLETED", starts: ["starts at 0"], ...stored }]);
  },
  slow,
);
