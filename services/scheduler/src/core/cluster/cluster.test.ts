import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { agentStart } from "../../testing/examples.ts";
import { Cluster } from "./cluster.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const slots = ["0", "1"].map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 }));
const offer = {
  pool: "default",
  slots,
  labels: {},
  version: "1",
  address: "h",
  ...agentStart,
};
const owned = { workspace: "", owner: "" };
const resources = { pool: "default", slots: 1, priority: 42, weight: 0, singleAgent: false };
const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "h" }];
const granted = { placements, masterAddress: "h", masterPort: 20_000, tokenKey: "k", folded: 0 };
const queued = {
  task: "1.1",
  run: 1,
  job: "1",
  resources,
  preemptible: true,
  delayMs: 0,
  ...owned,
};
const ended = { cause: AllocationEndCause.EXITED, exits: [], message: "" };

type Happened = readonly [id: string, event: AnyEvent];

function clusterOf(...events: readonly Happened[]): Cluster {
  const cluster = new Cluster();
  for (const [index, [id, event]] of events.entries()) {
    cluster.apply({ position: index + 1, timeMs: 1_000, eventId: "e", origin, id, event });
  }
  return cluster;
}

const joins = (pool: string): Happened => ["a1", { type: "AgentJoined", data: { ...offer, pool } }];

test("an agent that moves to another pool and returns has the slots of runs that ended meanwhile free", () => {
  const cluster = clusterOf(
    joins("default"),
    ["1.1#1", { type: "AllocationQueued", data: queued }],
    ["1.1#1", { type: "AllocationGranted", data: granted }],
    joins("other"),
    ["1.1#1", { type: "AllocationEnded", data: ended }],
    joins("default"),
  );
  expect(cluster.pool("default").agents.freeOf("a1", 2)).toEqual(["0", "1"]);
});

test("an agent that moves to another pool and returns keeps the slots of running runs occupied", () => {
  const cluster = clusterOf(
    joins("default"),
    ["1.1#1", { type: "AllocationQueued", data: queued }],
    ["1.1#1", { type: "AllocationGranted", data: granted }],
    joins("other"),
    joins("default"),
  );
  expect(cluster.pool("default").agents.freeOf("a1", 2)).toEqual(["1"]);
});

const job = (run: number): Happened => [
  `1.${run}#1`,
  { type: "AllocationQueued", data: { ...queued, task: `1.${run}` } },
];

test("the runs of a moved job have the same order in the fold and in its snapshot", () => {
  const cluster = clusterOf(
    job(2),
    ["default", { type: "JobMoved", data: { job: "1", place: 0.5, anchor: "2", ahead: true } }],
    job(1),
  );
  const demands = (of: Cluster) =>
    ["1.1#1", "1.2#1"].map((id) => {
      const demand = of.pool("default").queue.find(id)?.demand;
      return [demand?.arrival, demand?.place];
    });
  expect(demands(cluster)).toEqual([
    [3, 0.5],
    [1, 0.5],
  ]);
  expect(demands(readSnapshot(writeSnapshot(cluster)))).toEqual(demands(cluster));
});
