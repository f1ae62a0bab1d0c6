/** Two agents of two slots, for all tests of this folder: they start before the first and end after the last. */
import { afterAll, beforeAll } from "vitest";
import { World } from "../../world/world.ts";

export let world: World;

beforeAll(async () => {
  world = await World.start({ agents: 2, slots: 2, python: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());
