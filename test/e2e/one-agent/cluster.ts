/** One agent with four slots, for all tests of this folder: it starts before the first and ends after the last. */
import { SpanCollector } from "@trainyard/testing";
import { afterAll, beforeAll } from "vitest";
import { World } from "../../world/world.ts";

export let world: World;
export let collector: SpanCollector;

beforeAll(async () => {
  collector = await SpanCollector.start();
  // The cluster's processes inherit these.
  Object.assign(process.env, collector.variables);
  world = await World.start({ slots: 4, python: true });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await collector?.[Symbol.asyncDispose]();
});
