import type { AnyEvent } from "@trainyard/contracts";
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { agentStart } from "../../testing/examples.ts";
import { Cluster } from "../cluster/cluster.ts";
import { readSnapshot, writeSnapshot } from "../cluster/snapshot.ts";
import { Deadlines } from "./deadlines.ts";
import type { Decision } from "./decision.ts";
import { gather, type Round } from "./gather.ts";
import { Observed } from "./observed.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
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

function clusterOf(...events: readonly (readonly [id: string, event: AnyEvent])[]): Cluster {
  const cluster = new Cluster();
  for (const [index, [id, event]] of events.entries()) {
    cluster.apply({ position: index + 1, timeMs: 1_000, eventId: "e", origin, id, event });
  }
  return cluster;
}

function roundOf(cluster: Cluster, more: Partial<Round> = {}): Round {
  return {
    cluster,
    observed: new Observed(1),
    reported: new Set(),
    tokenKey: "k",
    deadlines: new Deadlines(),
    nowMs: 0,
    silentForMs: () => 0,
    agentSilenceMs: 30_000,
    firstWordMs: 0,
    massSilenceWaitMs: 0,
    forgetLostMs: 0,
    isSetAside: () => false,
    refusedSilentForMs: () => 0,
    leaseEpoch: 1,
    ...more,
  };
}

const named = (decisions: readonly Decision[]) =>
  decisions.map(({ id, command }) => `${id} ${command.kind}`);

test("an allocation whose stream is set aside holds no slots", () => {
  const cluster = clusterOf(
    ["default", { type: "PoolConfigured", data: { policy: "priority" } }],
    ["a1", { type: "AgentJoined", data: offer }],
    ["a2", { type: "AgentJoined", data: { ...offer, slots: [] } }],
    ["1.1#1", { type: "AllocationQueued", data: queued }],
  );
  const silent = { silentForMs: (agent: string) => (agent === "a2" ? 40_000 : 0) };
  expect(named(gather(roundOf(cluster, silent)))).toEqual(["a2 lose"]);
  const isSetAside = ({ id }: Decision) => id === "a2";
  expect(named(gather(roundOf(cluster, { ...silent, isSetAside })))).toEqual(["1.1#1 grant"]);
});

test("a grace keeps its length, whatever the host's and the database's clocks say", () => {
  const data = { mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 10_000 };
  const cluster = clusterOf(
    ["default", { type: "PoolConfigured", data: { policy: "priority" } }],
    ["a1", { type: "AgentJoined", data: offer }],
    ["1.1#1", { type: "AllocationQueued", data: queued }],
    ["1.1#1", { type: "AllocationGranted", data: granted }],
    ["1.1#1", { type: "AllocationStopRequested", data }],
  );
  const round = roundOf(cluster, { nowMs: 5_000_000 });
  expect(named(gather(round))).toEqual([]);
  // The database's clock jumps by an hour.
  cluster.passed({ position: 9, timeMs: 3_600_000 });
  expect(named(gather({ ...round, nowMs: 5_009_999 }))).toEqual([]);
  expect(round.deadlines.next()).toBe(5_010_000);
  expect(named(gather({ ...round, nowMs: 5_010_000 }))).toEqual(["1.1#1 stop"]);
});

test("a delayed allocation is placed after its delay, by this process's clock", () => {
  const cluster = clusterOf(
    ["default", { type: "PoolConfigured", data: { policy: "priority" } }],
    ["a1", { type: "AgentJoined", data: offer }],
    ["1.1#1", { type: "AllocationQueued", data: { ...queued, delayMs: 2_000 } }],
  );
  const round = roundOf(cluster, { nowMs: 5_000_000 });
  expect(named(gather(round))).toEqual([]);
  expect(named(gather({ ...round, nowMs: 5_001_999 }))).toEqual([]);
  expect(named(gather({ ...round, nowMs: 5_002_000 }))).toEqual(["1.1#1 grant"]);
});

test("a term that finds a running grace gives it the time that remained at the newest event", () => {
  const data = { mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 10_000 };
  const cluster = clusterOf(
    ["default", { type: "PoolConfigured", data: { policy: "priority" } }],
    ["a1", { type: "AgentJoined", data: offer }],
    ["1.1#1", { type: "AllocationQueued", data: queued }],
    ["1.1#1", { type: "AllocationGranted", data: granted }],
    ["1.1#1", { type: "AllocationStopRequested", data }],
  );
  cluster.passed({ position: 9, timeMs: 8_000 });
  const resumed = readSnapshot(writeSnapshot(cluster));
  const round = roundOf(resumed);
  gather(round);
  expect(round.deadlines.next()).toBe(3_000);
});
