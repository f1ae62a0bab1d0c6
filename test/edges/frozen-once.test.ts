import { expect, test } from "vitest";
import { World } from "../world/world.ts";
import { frozenAgents } from "./scenarios/frozen-agents.ts";
test("frozen", async () => {
  await using world = await World.start({ processes: true, agents: 2, slots: 2 });
  expect(await frozenAgents.run(world)).toEqual([]);
}, 220_000);
