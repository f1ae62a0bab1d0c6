/** Metrics of the searches' decisions, counted from their events on the log. */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { SearchCompletion } from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf } from "@trainyard/kernel";
import { enumLabel, type Registry } from "@trainyard/runtime";
import { Counter, Histogram } from "prom-client";

export type Telemetry = {
  /** Counts an event of a search, and ignores others. After a takeover the last few may be counted again. */
  readonly count: (event: StoredEvent) => void;
  /** Records the time from a question to the model's answer, including the wait for other answers. */
  readonly suggestionTook: (ms: number) => void;
  /** Counts an action about suggestions or a budget that is parked. */
  readonly parked: () => void;
};

export function createTelemetry(registry: Registry): Telemetry {
  const count = counters(registry);
  const parked = counter(registry, "searcher_actions_parked_total", "Actions of loops parked");
  const suggestions = new Histogram({
    name: "trainyard_suggestion_seconds",
    help: "From a question to the answer of the model",
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [registry],
  });
  return {
    count: (stored) => {
      if (categoryOf(stored.stream) === "search") count(decodeEvent(stored));
    },
    suggestionTook: (ms) => suggestions.observe(ms / 1_000),
    parked: () => parked.inc(),
  };
}

function counters(registry: Registry): (event: AnyEvent) => void {
  const started = counter(registry, "searches_started_total", "Searches started");
  const proposed = counter(registry, "trials_proposed_total", "Trials proposed", "origin");
  const observed = counter(registry, "observations_total", "Observations recorded", "repeat");
  const stopped = counter(registry, "trials_stopped_total", "Trials stopped early", "rule");
  const completed = counter(registry, "searches_completed_total", "Searches completed", "reason");
  return (event) => {
    switch (event.type) {
      case "SearchStarted":
        return started.inc();
      case "TrialProposed":
        return proposed.inc({ origin: event.data.origin });
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
