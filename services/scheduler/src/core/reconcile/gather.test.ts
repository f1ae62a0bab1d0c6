import { StopMode, StopWhy } from "@trainyard/contracts/events";
import type { AnyEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import type { Decision } from "./decision.ts";
import { gather, type Round } from "./gather.ts";
import { Observed } from "./observed.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
const offer = { pool: "default", slots, labels: {}, version: "1", address: "h" };
const resources = { pool: "default", slots: 1, priority: 42, weight: 0, singleAgent: false };
const queued = { task: "1.1", run: 1, job: "1", resources, preemptible: true, delayMs: 0 };

function clusterOf(...events: readonly (readonly [id: string, event: AnyEvent])[]): Cluster {
  const cluster = new Cluster();
  for (const [index, [id, event]] of events.entries()) {
    cluster.apply({ position: index + 1, timeMs: 1_000, origin, id, event });
  }
  return cluster;
}

function roundOf(cluster: Cluster, more: Partial<Round> = {}): Round {
  return {
    cluster,
    observed: new Observed(1),
    reported: new Set(),
    tokenKey: "k",
    nowMs: 0,
    silentForMs: () => 0,
    agentSilenceMs: 30_000,
    isSetAside: () => false,
    refusedSilentForMs: () => 0,
    leaseEpoch: 1,
    ...more,
  };
}

const named = (decisions: readonly Decision[]) =>
  decisions.map(({ id, command }) => `${id} ${command.kind}`);

test("what is set aside holds up no place", () => {
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
