/** Telemetry: what searches decided, counted as their events pass by on the log. */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { SearchCompletion } from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf } from "@trainyard/kernel";
import { enumLabel, type Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

/** Counts an event of a search; others' it ignores. After a takeover the last few may be counted again. */
export function createTelemetry(registry: Registry): (event: StoredEvent) => void {
  const count = counters(registry);
  return (stored) => {
    if (categoryOf(stored.stream) === "search") count(decodeEvent(stored));
  };
}

function counters(registry: Registry): (event: AnyEvent) => void {
  const started = counter(registry, "searches_started_total", "Searches started");
  const proposed = counter(registry, "trials_proposed_total", "Trials proposed");
  const observed = counter(registry, "observations_total", "Observations recorded", "repeat");
  const stopped = counter(registry, "trials_stopped_total", "Trials stopped early", "rule");
  const completed = counter(registry, "searches_completed_total", "Searches completed", "reason");
  return (event) => {
    switch (event.type) {
      case "SearchStarted":
        return started.inc();
      case "TrialProposed":
        return proposed.inc();
      case "ObservationRecorded":
        return observed.inc({ repeat: String(event.data.repeat) });
      case "TrialStopDecided":
        return stopped.inc({ rule: event.data.rule });
      case "SearchCompleted":
        return completed.inc({ reason: enumLabel(SearchCompletion, event.data.reason) });
      default:
        return undefined;
    }
  };
}

function counter(registry: Registry, name: string, help: string, ...labelNames: string[]) {
  return new Counter({ name: `trainyard_${name}`, help, labelNames, registers: [registry] });
}
