/**
 * The invariants of every history of experiments, trials and searches, with any deaths and any late or repeated
 * messages. They are checked on the log alone, event by event, without the services' folds.
 */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { categoryOf, idOf } from "@trainyard/kernel";
import { replaySearch, type SearchEvent } from "@trainyard/search";
import { CheckpointRules } from "./rules/checkpoints.ts";
import { ExperimentRules } from "./rules/experiments.ts";
import { PlacementRules } from "./rules/placements.ts";
import { ReporterRules } from "./rules/reporters.ts";
import { SearchRules } from "./rules/searches.ts";
import { TaskRules } from "./rules/tasks.ts";
import { TrialRules } from "./rules/trials.ts";

export type Report = (what: string) => void;

export async function violationsOf(log: MemoryLog): Promise<readonly string[]> {
  const violations: string[] = [];
  const checkpoints = new CheckpointRules();
  const placements = new PlacementRules();
  const reporters = new ReporterRules();
  const experiments = new ExperimentRules();
  const searches = new SearchRules(experiments);
  const trials = new TrialRules(experiments, searches, checkpoints);
  const tasks = new TaskRules(checkpoints);
  for (const stored of log.store.events) {
    const event = decodeEvent(stored);
    const report: Report = (what) =>
      violations.push(`${stored.position} ${stored.stream} ${event.type}: ${what}`);
    const id = idOf(stored.stream);
    reporters.see(id, event, stored, report);
    switch (categoryOf(stored.stream)) {
      case "experiment":
        experiments.see(id, event, report, trials, searches);
        break;
      case "search":
        searches.see(id, event, report, trials);
        break;
      case "trial":
        trials.see(id, event, stored, report);
        break;
      case "task":
        tasks.see(id, event, stored.timeMs, report);
        break;
      case "measurement":
        trials.seeMeasurement(event, stored, report);
        break;
      default:
        checkpoints.see(id, event);
        placements.see(id, event, report);
        tasks.seeAllocation(id, event);
    }
  }
  violations.push(...searches.missedMeasurements(trials), ...tasks.left());
  for (const row of log.store.parked(undefined))
    violations.push(`parked ${row.position}: ${row.reason}`);
  for await (const finding of log.as("checker").verify(0)) {
    violations.push(`the chain is broken: ${JSON.stringify(finding)}`);
  }
  return violations;
}

/**
 * A trial's hyperparameters and seeds, in order of number, as the search proposed them; null for a trial that continues
 * from another, since the other one depends on the reports until then.
 */
export function proposalsOf(log: MemoryLog, experiment: string): readonly (string | null)[] {
  return searchEvents(log, experiment).flatMap((event) => {
    if (event.type !== "TrialProposed") return [];
    const { number, hyperparameters, seed, startFromTrial } = event.data;
    return [startFromTrial === undefined ? JSON.stringify([number, hyperparameters, seed]) : null];
  });
}

function searchEvents(log: MemoryLog, experiment: string): readonly SearchEvent[] {
  return eventsOf(log.store.stream(`search-${experiment}`)) as readonly SearchEvent[];
}

/** Replays a search on its recorded inputs, and returns the differences. */
export function decidedOtherwise(log: MemoryLog, experiment: string): readonly string[] {
  return replaySearch(searchEvents(log, experiment)).differences.map(
    (difference) => `search ${experiment} decides otherwise: ${JSON.stringify(difference)}`,
  );
}

export function eventsOf(stored: readonly StoredEvent[]): readonly AnyEvent[] {
  return stored.map((event) => decodeEvent(event));
}
