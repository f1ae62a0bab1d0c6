/** Metrics of this service's decisions, counted from its events on the log. */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { categoryOwners } from "@trainyard/kernel/services";
import {
  ExperimentOutcome,
  RunEndWhy,
  TaskOutcome,
  TrialOutcome,
} from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf } from "@trainyard/kernel";
import { enumLabel, type Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

export type Telemetry = {
  /** Counts an event of this service, and ignores others. After a takeover the last few may be counted again. */
  readonly count: (event: StoredEvent) => void;
  /** Counts an action of a loop that is parked. */
  readonly onParked: () => void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const count = counters(registry);
  const parked = counter(registry, "experiments_actions_parked_total", "Actions of loops parked");
  return {
    onParked: () => parked.inc(),
    count: (stored) => {
      if (categoryOwners[categoryOf(stored.stream)] === "experiments") count(decodeEvent(stored));
    },
  };
}

function counters(registry: Registry): (event: AnyEvent) => void {
  const created = counter(registry, "experiments_created_total", "Experiments created");
  const ended = counter(registry, "experiments_ended_total", "Experiments ended", "outcome");
  const trials = counter(registry, "trials_ended_total", "Trials ended", "outcome");
  const tasks = counter(registry, "tasks_ended_total", "Tasks ended", "outcome");
  const requested = counter(registry, "runs_requested_total", "Runs requested");
  const runs = counter(registry, "runs_ended_total", "Runs ended", "why");
  return (event) => {
    switch (event.type) {
      case "ExperimentCreated":
        return created.inc();
      case "ExperimentEnded":
        return ended.inc({ outcome: enumLabel(ExperimentOutcome, event.data.outcome) });
      case "TrialEnded":
        return trials.inc({ outcome: enumLabel(TrialOutcome, event.data.outcome) });
      case "TaskEnded":
        return tasks.inc({ outcome: enumLabel(TaskOutcome, event.data.outcome) });
      case "RunRequested":
        return requested.inc();
      case "RunEnded":
        return runs.inc({ why: enumLabel(RunEndWhy, event.data.why) });
      default:
        return undefined;
    }
  };
}

function counter(registry: Registry, name: string, help: string, ...labelNames: string[]) {
  return new Counter({ name: `trainyard_${name}`, help, labelNames, registers: [registry] });
}
