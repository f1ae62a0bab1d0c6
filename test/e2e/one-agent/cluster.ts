/** One agent with four slots, for all tests of this folder: it starts before the first and ends after the last. */
import { afterAll, beforeAll } from "vitest";
import { World } from "../../world/world.ts";

export let world: World;

beforeAll(async () => {
  world = await World.start({ slots: 4, python: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());
