/** A process for each service, for all tests of this folder: they start before the first test and end after the last. */
import { afterAll, beforeAll } from "vitest";
import { World } from "../../world/world.ts";

export let world: World;

beforeAll(async () => {
  world = await World.start({ processes: true, slots: 4, python: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());
