/** The memory of the scheduler's folded state, per agent and per waiting run. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AnyEvent } from "@trainyard/contracts";
import { agentStart, Cluster } from "@trainyard/service-scheduler/testing";
import { type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { slotsPerAgent } from "./workload.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };

export function memory({ say }: BenchContext, scale: number): readonly BenchResult[] {
  const [agents, waiting] = [10_000 / scale, 100_000 / scale];
  say(`memory of ${agents} agents and ${waiting} waiting runs`);
  const cluster = new Cluster();
  const empty = heapBytes();
  for (let n = 0; n < agents; n += 1) apply(cluster, `a${n}`, joined());
  const withAgents = heapBytes();
  for (let n = 0; n < waiting; n += 1) apply(cluster, `${n % 100}.${n}#1`, queued(n));
  const withRuns = heapBytes();
  const note = `heap after a collection; ${cluster.agents.size} agents of ${slotsPerAgent} slots, ${cluster.allocations.size} waiting runs`;
  const bar = { unit: "bytes", floor: null, goal: null };
  return [
    costResult({ ...bar, id: "memory_per_agent" }, (withAgents - empty) / agents, null, note),
    costResult(
      { ...bar, id: "memory_per_waiting_run" },
      (withRuns - withAgents) / waiting,
      null,
      note,
    ),
  ];
}

function apply(cluster: Cluster, id: string, event: AnyEvent): void {
  cluster.position += 1;
  cluster.apply({ position: cluster.position, timeMs: 1_000, eventId: "e", origin, id, event });
}

function joined(): AnyEvent {
  const slots = Array.from({ length: slotsPerAgent }, (_, n) => ({
    id: String(n),
    device: "cuda",
    uuid: `GPU-${n}`,
    memoryBytes: 80e9,
  }));
  const offer = { pool: "default", slots, labels: {}, version: "1", address: "host" };
  return { type: "AgentJoined", data: { ...offer, ...agentStart } };
}

function queued(n: number): AnyEvent {
  const job = String(n % 100);
  const resources = { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: true };
  const rest = { preemptible: true, delayMs: 0, workspace: "w", owner: "ada" };
  return {
    type: "AllocationQueued",
    data: { task: `${job}.${n}`, run: 1, job, resources, ...rest },
  };
}

/** Returns the used heap after a full garbage collection. */
function heapBytes(): number {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
