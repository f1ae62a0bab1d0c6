import { expect, test } from "vitest";
import { troubledAgents } from "./troubled-agents.ts";

test("agents that are killed, frozen and cut off end each run once, and no slot is shared", async () => {
  const size = { racks: 2, agentsPerRack: 2, runs: 20, troubleMs: 4_000 };
  const { violations, troubles } = await troubledAgents({ seed: 4, ...size, log: () => {} });
  expect(violations).toEqual([]);
  expect(troubles).toBeGreaterThan(1);
}, 900_000);
