import { afterAll, beforeAll, expect, test } from "vitest";
import { World } from "../world/world.ts";
import { forgedDocument } from "./scenarios/forged-document.ts";
import { linkedFolder } from "./scenarios/linked-folder.ts";

/** The scenarios that take seconds; `npm run -s campaign -- edges` runs all of them, and the outages. */
const scenarios = [forgedDocument, linkedFolder];

let world: World;

beforeAll(async () => {
  world = await World.start({ processes: true, slots: 2 });
});
afterAll(() => world[Symbol.asyncDispose]());

test.each(scenarios)("$name affects no other user", async ({ run }) => {
  expect(await run(world)).toEqual([]);
});
