/** The metrics of the scheduler. Those of the cluster's state are only at the replica that decides. */
import { AllocationEndCause, Fault, WaitCode } from "@trainyard/contracts/events";
import { enumLabel, type Measured, measuredGauge, type Registry } from "@trainyard/runtime";
import { Counter, Histogram } from "prom-client";
import { type Census, censusOf, waitedMs } from "./core/cluster/census.ts";
import type { Cluster } from "./core/cluster/cluster.ts";
import type { RecordedEvent } from "./core/cluster/state.ts";
import type { Decision } from "./core/reconcile/decision.ts";
import { limits } from "./limits.ts";

type State = Pick<Cluster, "agents" | "allocations" | "pools">;

export type Telemetry = {
  reportHeard(): void;
  decided(decisions: readonly Decision[]): void;
  /** Counts a decision that the log refuses, and a placement, launch or explanation that throws: its subject waits. */
  setAside(on: string, kind: string): void;
  /** Counts what an event ends: a wait, or a launch. Called before the cluster has changed by it. */
  recorded(event: RecordedEvent, before: Pick<Cluster, "allocations">): void;
  turned(ms: number): void;
  /** Shows the state of this cluster from now on; null after the term. */
  shows(cluster: State | null): void;
};

export function createTelemetry(registry: Registry, nowMs: () => number): Telemetry {
  let cluster: State | null = null;
  clusterGauges(registry, () => cluster, nowMs);
  return {
    ...decisionCounters(registry),
    recorded: recordedEvents(registry),
    shows(now) {
      cluster = now;
    },
  };
}

function decisionCounters(
  registry: Registry,
): Pick<Telemetry, "reportHeard" | "decided" | "setAside" | "turned"> {
  const registers = [registry];
  const reports = new Counter({
    name: "trainyard_scheduler_reports_total",
    help: "Reports heard from agents",
    registers,
  });
  const decisions = new Counter({
    name: "trainyard_scheduler_decisions_total",
    help: "Decisions, by their subject",
    labelNames: ["on", "kind"],
    registers,
  });
  const refusals = new Counter({
    name: "trainyard_scheduler_decisions_set_aside_total",
    help: "Decisions that the log refuses, and what throws, by the subject, which waits. The log of this service has the reason",
    labelNames: ["on", "kind"],
    registers,
  });
  const turns = new Histogram({
    name: "trainyard_scheduler_turn_seconds",
    help: "One turn: all decisions that are due, their appends, and the lists for agents",
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  return {
    reportHeard: () => reports.inc(),
    decided(decided) {
      for (const { on, command } of decided) decisions.inc({ on, kind: command.kind });
    },
    setAside: (on, kind) => refusals.inc({ on, kind }),
    turned: (ms) => turns.observe(ms / 1_000),
  };
}

const [platformAway, agentSilent] = ["platform_away", "agent_silent"];

function recordedEvents(registry: Registry): Telemetry["recorded"] {
  const registers = [registry];
  const waits = new Histogram({
    name: "trainyard_scheduler_queue_wait_seconds",
    help: "From the request of a run to its place, or to the end of a run that never got one",
    labelNames: ["pool", "outcome"],
    buckets: [1, 10, 60, 600, 3_600, 21_600, 86_400],
    registers,
  });
  const launches = new Counter({
    name: "trainyard_scheduler_launches_total",
    help: "Runs that have started on their agents",
    labelNames: ["pool"],
    registers,
  });
  const failures = new Counter({
    name: "trainyard_scheduler_launch_failures_total",
    help: "Runs that did not start: platform_away, agent_silent, or the party at fault",
    labelNames: ["reason"],
    registers,
  });
  // A counter that begins at 1 has no increase for Prometheus.
  const faults = Object.values(Fault).filter((fault) => typeof fault === "number");
  const reasons = [platformAway, agentSilent, ...faults.map((fault) => enumLabel(Fault, fault))];
  for (const reason of reasons) failures.inc({ reason }, 0);
  return ({ event, id, timeMs }, { allocations }) => {
    const allocation = allocations.get(id);
    if (allocation === undefined) return;
    const { pool } = allocation.resources;
    const waited = (outcome: string): void =>
      waits.observe({ pool, outcome }, waitedMs(allocation, timeMs) / 1_000);
    if (event.type === "AllocationGranted") waited("granted");
    if (event.type === "AllocationStarted") launches.inc({ pool });
    if (event.type !== "AllocationEnded") return;
    if (allocation.grant === null) waited("cancelled");
    const { cause, launchFailure, fault } = event.data;
    if (cause !== AllocationEndCause.LAUNCH_FAILED) return;
    if (launchFailure?.platformAway === true) return failures.inc({ reason: platformAway });
    const isSilent = (launchFailure?.silent.length ?? 0) > 0;
    failures.inc({ reason: isSilent ? agentSilent : enumLabel(Fault, fault ?? 0) });
  };
}

function clusterGauges(registry: Registry, current: () => State | null, nowMs: () => number): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    measure: (cluster: State) => Measured,
  ): void =>
    measuredGauge(registry, { name: `trainyard_scheduler_${name}`, help, labelNames }, () => {
      const cluster = current();
      return cluster === null ? [] : measure(cluster);
    });
  const census = countedOnce(nowMs);
  gauge("waiting", "Allocations that wait for a place", ["pool"], ({ pools }) =>
    [...pools].map(([pool, { queue }]) => [{ pool }, queue.size]),
  );
  gauge(
    "waiting_runs",
    "Waiting runs by the reason that people see",
    ["pool", "reason"],
    (cluster) =>
      census(cluster).waiting.map(({ pool, code, runs }) => [
        { pool, reason: reasonOf(code) },
        runs,
      ]),
  );
  gauge("oldest_wait_seconds", "The longest wait of these runs", ["pool", "reason"], (cluster) =>
    census(cluster).waiting.map(({ pool, code, oldestMs }) => [
      { pool, reason: reasonOf(code) },
      oldestMs / 1_000,
    ]),
  );
  gauge("runs", "Runs that have not ended, by state", ["pool", "state"], (cluster) =>
    census(cluster).runs.map(({ pool, state, count }) => [{ pool, state }, count]),
  );
  const ofJobs = "Experiments and tasks with such runs: running if one of their runs has a place";
  gauge("jobs", ofJobs, ["pool", "state"], (cluster) =>
    census(cluster).jobs.map(({ pool, state, count }) => [{ pool, state }, count]),
  );
  const ofSlots =
    "Slots: known (of all agents), present (of agents that get runs), free, and held by runs";
  gauge("slots", ofSlots, ["pool", "state"], slotsOf);
  gauge("agents", "Agents by status", ["status"], ({ agents }) => agentsOf(agents.values()));
  const ofOut = "Present agents that get no runs, by reason";
  gauge("agents_out", ofOut, ["pool", "reason"], ({ pools }) => agentsOut(pools));
  const ofLeft = "Checkpoints of ended runs that agents have and that are not stored yet";
  gauge("undelivered_checkpoints", ofLeft, [], ({ agents }) => [
    [{}, [...agents.values()].reduce((sum, one) => sum + (one.undelivered?.checkpoints ?? 0), 0)],
  ]);

  function slotsOf(cluster: State): Measured {
    const { heldSlots } = census(cluster);
    return [...cluster.pools].flatMap(([pool, { agents }]) => [
      [{ pool, state: "known" }, agents.known.slots] as const,
      [{ pool, state: "present" }, agents.present.slots] as const,
      [{ pool, state: "free" }, agents.freeSlots] as const,
      [{ pool, state: "held" }, heldSlots.get(pool) ?? 0] as const,
    ]);
  }
}

/** Several metrics of a scrape need the census, which visits all runs: it is taken once. */
function countedOnce(nowMs: () => number): (cluster: State) => Census {
  let latest: { readonly cluster: State; readonly atMs: number; readonly census: Census } | null =
    null;
  return (cluster) => {
    const atMs = nowMs();
    const isNew = latest?.cluster === cluster && Math.abs(atMs - latest.atMs) < limits.censusMs;
    if (!isNew || latest === null) latest = { cluster, atMs, census: censusOf(cluster, atMs) };
    return latest.census;
  };
}

const reasonOf = (code: WaitCode): string =>
  code === WaitCode.UNSPECIFIED ? "not_explained" : enumLabel(WaitCode, code);

function agentsOf(agents: Iterable<{ readonly status: "present" | "lost" | "removed" }>): Measured {
  const counts = { present: 0, lost: 0, removed: 0 };
  for (const { status } of agents) counts[status] += 1;
  return Object.entries(counts).map(([status, count]) => [{ status }, count]);
}

function agentsOut(pools: State["pools"]): Measured {
  return [...pools].flatMap(([pool, { agents }]) => {
    const counts = new Map<string, number>();
    for (const { block } of agents.blocked)
      counts.set(block.kind, (counts.get(block.kind) ?? 0) + 1);
    return [...counts].map(([reason, count]) => [{ pool, reason }, count] as const);
  });
}
