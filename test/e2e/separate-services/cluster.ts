/** Each service is a process of its own, for all tests of this folder: from before the first until after the last. */
import { afterAll, beforeAll } from "vitest";
import { World } from "../../world/world.ts";

export let world: World;

beforeAll(async () => {
  world = await World.start({ processes: true, slots: 4, python: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());
