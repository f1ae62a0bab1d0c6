import type { Plain } from "@trainyard/contracts";
import { AllocationReportState, type Report } from "@trainyard/contracts/agent";
import { expect, test } from "vitest";
import { agentStart } from "../../testing/examples.ts";
import { Cluster } from "../cluster/cluster.ts";
import { Observed } from "./observed.ts";
import { ranksOf } from "./ranks.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const owned = { workspace: "", owner: "" };
const resources = { pool: "default", slots: 1, priority: 42, weight: 0, singleAgent: false };
const queued = {
  task: "1.1",
  run: 1,
  job: "1",
  resources,
  preemptible: true,
  delayMs: 0,
  ...owned,
};
const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "h" }];
const granted = { placements, masterAddress: "h", masterPort: 20_000, tokenKey: "k", folded: 0 };

function reportOf(agent: string): Plain<Report> {
  const ended = {
    allocation: "1.1#1",
    requestId: "e",
    state: AllocationReportState.ENDED,
    nodeRank: 0,
    pid: 7,
  };
  const exit = { nodeRank: 0, agent, code: 0, signal: "", message: "" };
  const held = { ...ended, slots: ["0"], exit, launchFailed: false, killed: false };
  const echo = { incarnation: "one", sequence: 1, epoch: 1, version: 1, probe: 0 };
  const offer = { pool: "default", slots: [], labels: {}, agentVersion: "1", address: "h" };
  const host = { ...agentStart, highestEpoch: 1, diskFreeBytes: 1e12, notices: [] };
  return { agent, ...echo, ...offer, ...host, allocations: [held] };
}

test("a report about a run by an agent that it is not placed on is ignored", () => {
  const cluster = new Cluster();
  const at = { timeMs: 0, eventId: "e", origin, id: "1.1#1" };
  const offer = { pool: "default", slots: [], labels: {}, version: "1", address: "h" };
  const join = { type: "AgentJoined", data: { ...offer, ...agentStart } } as const;
  cluster.apply({ ...at, position: 1, id: "a1", event: join });
  cluster.apply({ ...at, position: 2, event: { type: "AllocationQueued", data: queued } });
  cluster.apply({ ...at, position: 3, event: { type: "AllocationGranted", data: granted } });
  const allocation = cluster.allocations.get("1.1#1");
  if (allocation === undefined) throw new Error("it is placed");
  const observed = new Observed(1);
  observed.hear(reportOf("a2"), null, 0);
  expect(ranksOf(cluster, allocation, observed).map(({ state }) => state.kind)).toEqual([
    "unknown",
  ]);
  observed.hear(reportOf("a1"), null, 0);
  expect(ranksOf(cluster, allocation, observed).map(({ state }) => state.kind)).toEqual(["ended"]);
});
