/** Waits for checkpoints that only lost or removed hosts have. */
import type { EventOf } from "@trainyard/contracts";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  checkpointA,
  checkpointCompleted,
  crashed,
  experimentCreated,
  trialProposed,
} from "../testing/examples.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { reactionHandlers } from "./reactions.ts";

const allocation = "allocation-12.1#1";
const lost = { type: "AgentLost", data: { reason: "not heard for 30 s" } } as const;
const removed = { type: "AgentRemoved", data: { reason: "" } } as const;
const returned: EventOf<"AgentReturned"> = {
  type: "AgentReturned",
  data: { occupations: [], slots: [], folder: "", place: "", startedMs: 0 },
};

let stage: Stage;

beforeEach(async () => {
  const waits = waitsBy(systemClock, ["12.1"]);
  stage = new Stage("experiments", () => reactionHandlers(waits, noFanOuts));
});

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

/** A run on these agents fails and leaves a checkpoint. */
async function leftOn(...agents: readonly string[]): Promise<void> {
  await happens("experiment-12", experimentCreated(), activated);
  await happens("search-12", trialProposed());
  const placements = agents.map((agent, nodeRank) => {
    return { agent, nodeRank, slots: ["0"], address: "" };
  });
  const where = { placements, masterAddress: "", masterPort: 1, tokenKey: "", folded: 0 };
  await happens(allocation, { type: "AllocationGranted", data: where }, allocationStarted);
  const sealed = { checkpoints: [{ checkpoint: checkpointA, step: 10, bytes: 5e11 }] };
  const data = { ...crashed.data, sealed };
  await happens(allocation, { type: "AllocationEnded", data });
}

async function requests(): Promise<number> {
  return (await stage.names("trial-12.1")).filter((name) => name === "RunRequested").length;
}

test("the next run does not wait for a checkpoint that only a removed host has", async () => {
  await leftOn("a1");
  await happens("agent-a2", removed);
  expect(await requests()).toBe(1);
  await happens("agent-a1", removed);
  expect(await requests()).toBe(2);
});

test("the next run waits for a lost host, which brings the checkpoint when it is back", async () => {
  await leftOn("a1");
  await happens("agent-a1", lost);
  expect(await requests()).toBe(1);
  await happens("agent-a1", returned);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 10));
  expect(await stage.names("trial-12.1")).toContain("TrialCheckpointed");
  expect(await requests()).toBe(2);
});

test("the next run of several hosts waits until the last of them is removed", async () => {
  await leftOn("a1", "a2");
  await happens("agent-a1", removed);
  expect(await requests()).toBe(1);
  await happens("agent-a2", removed);
  expect(await requests()).toBe(2);
});

test("a host that was removed before the end of its run is not waited for", async () => {
  await happens("agent-a1", removed);
  await leftOn("a1");
  expect(await requests()).toBe(2);
});
