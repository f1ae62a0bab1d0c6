import { afterAll, beforeAll, expect, test } from "vitest";
import type { World } from "../world/world.ts";
import { endAway, startWorld } from "./end-away.ts";

const slow = 1_200_000;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const stored = { checkpoints: ["COMPLETED"], downloaded: '{"step": 7}' };

test(
  "a run ends while the gateway is away: its last checkpoint is complete afterwards, and can be downloaded",
  async () => {
    const farewell = await endAway(world, "gateway", 0);
    expect(farewell).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  },
  slow,
);

test(
  "a run ends while PostgreSQL is away: its last checkpoint is complete afterwards, and can be downloaded",
  async () => {
    const farewell = await endAway(world, "postgres", 0);
    expect(farewell).toEqual({ state: "COMPLETED", starts: ["starts at 0"], ...stored });
  },
  slow,
);

test(
  "a run fails while the gateway is away: the next one waits for its last checkpoint, and starts from it",
  async () => {
    const farewell = await endAway(world, "gateway", 3);
    const starts = ["starts at 0", "starts at 7"];
    expect(farewell).toEqual({ state: "COMPLETED", starts, ...stored });
  },
  slow,
);
