import { expect, test } from "vitest";
import { needTorch } from "../world/torch.ts";
import { killParts } from "./kill.ts";

test("a training on two agents that is paused and activated has the weights of an undisturbed one after kill -9 of a rank, an agent, and services", {
  timeout: 1_200_000,
}, async ({ skip }) => {
  needTorch(skip);
  const { killed, violations } = await killParts({
    seed: 3,
    ranksOfAgent: 2,
    parts: ["rank-2", "agent-2", "experiments", "scheduler", "metrics", "gateway"],
    batchSeconds: 0.6,
    batches: 80,
    log: () => {},
  });
  expect(violations).toEqual([]);
  expect(killed).toBe(6);
});
