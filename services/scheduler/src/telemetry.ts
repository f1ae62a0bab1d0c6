/** The counters of the scheduler. */
import type { Registry } from "@trainyard/runtime";
import type { Pool } from "@trainyard/scheduling";
import { Counter, Gauge } from "prom-client";
import type { Agent } from "./core/cluster/state.ts";
import type { Decision } from "./core/reconcile/decision.ts";

export type Telemetry = {
  reportHeard(): void;
  decided(decisions: readonly Decision[]): void;
  /** Counts a decision that the log refuses, and a placement, launch or explanation that throws: its subject waits. */
  setAside(on: string, kind: string): void;
  beat(pools: ReadonlyMap<string, Pool>, agents: ReadonlyMap<string, Agent>): void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const registers = [registry];
  const reports = new Counter({
    name: "trainyard_scheduler_reports_total",
    help: "Reports heard from agents.",
    registers,
  });
  const decisions = new Counter({
    name: "trainyard_scheduler_decisions_total",
    help: "Decisions, by their subject.",
    labelNames: ["on", "kind"],
    registers,
  });
  const refusals = new Counter({
    name: "trainyard_scheduler_decisions_set_aside_total",
    help: "Decisions that the log refuses, and what throws, by the subject, which waits. The log of this service has the reason.",
    labelNames: ["on", "kind"],
    registers,
  });
  const waiting = new Gauge({
    name: "trainyard_scheduler_waiting",
    help: "Allocations that wait for a place.",
    labelNames: ["pool"],
    registers,
  });
  const slots = new Gauge({
    name: "trainyard_scheduler_slots",
    help: "Slots of present agents, and how many of them are free.",
    labelNames: ["pool", "state"],
    registers,
  });
  const agents = new Gauge({
    name: "trainyard_scheduler_agents",
    help: "Agents by status.",
    labelNames: ["status"],
    registers,
  });
  return {
    reportHeard: () => reports.inc(),
    decided(decided) {
      for (const { on, command } of decided) decisions.inc({ on, kind: command.kind });
    },
    setAside: (on, kind) => refusals.inc({ on, kind }),
    beat(pools, known) {
      for (const [pool, { agents: capacity, queue }] of pools) {
        waiting.set({ pool }, queue.size);
        slots.set({ pool, state: "present" }, capacity.present.slots);
        slots.set({ pool, state: "free" }, capacity.freeSlots);
      }
      const counts = { present: 0, lost: 0, removed: 0 };
      for (const { status } of known.values()) counts[status] += 1;
      for (const [status, count] of Object.entries(counts)) agents.set({ status }, count);
    },
  };
}
