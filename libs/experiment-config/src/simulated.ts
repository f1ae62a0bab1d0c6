/**
 * A configuration for a search against what trainings have brought already: its searcher, over their space and metric.
 */
import { type Rejection, reject } from "@trainyard/kernel";
import type { HyperparameterSpace } from "./hyperparameters/hyperparameters.ts";
import { readYaml } from "./document.ts";
import { isMapping, type Json, type JsonObject, valueAt } from "./json.ts";
import { withOverrides } from "./overrides.ts";
import { type ParsedExperiment, type ParseOptions, parseExperiment } from "./parse.ts";
import { hyperbandTrials } from "./searcher/halving.ts";
import type { SearcherModule } from "./searcher/module.ts";
import { isKnownSearcher, schemas } from "./searcher/schema.ts";
import { isSearcherName, searchers, trainsToTheEnd } from "./searcher/searcher.ts";

export type RecordedTrainings = {
  readonly space: HyperparameterSpace;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  readonly timeMetric: string;
  /** The time of one full training. */
  readonly maxTime: number;
  /** Configurations that were trained. */
  readonly trials: number;
  /** Trainings at one time. */
  readonly workers: number;
};

/**
 * Parses as `parseExperiment` does, but hyperparameters, metric, direction, time metric and longest time are those of
 * the trainings; there are no more trials than these, and no more at one time than workers. Constraints and a warm
 * start are left out, and an entrypoint may be missing.
 */
export function parseForRecorded(
  yamlText: string,
  options: ParseOptions,
  recorded: RecordedTrainings,
): ParsedExperiment | Rejection {
  const read = readYaml(yamlText);
  // A text that cannot be read is refused by the function that refuses it for all.
  if (!isMapping(read.value)) return parseExperiment(yamlText, options);
  const overridden = withOverrides(read.value, options.overrides ?? []);
  if (overridden.problems.length > 0) return parseExperiment(yamlText, options);
  const { document } = overridden;
  const searcher = valueAt(document, "searcher") ?? null;
  const name = isMapping(searcher) ? valueAt(searcher, "name") : undefined;
  const module: SearcherModule | null = isSearcherName(name) ? searchers[name] : null;
  const why = module?.unserved;
  if (why !== undefined) {
    const detail = `is ${String(name)}, which cannot run against recorded trainings: ${why}`;
    return reject("invalid_config", `searcher.name ${detail}`, [{ path: "searcher.name", detail }]);
  }
  const changed = {
    entrypoint: "true",
    ...document,
    hyperparameters: recorded.space,
    searcher: isMapping(searcher) ? recordedSearcher(searcher, recorded) : searcher,
  };
  return parseExperiment(JSON.stringify(changed), { ...options, overrides: [] });
}

function recordedSearcher(searcher: JsonObject, recorded: RecordedTrainings): JsonObject {
  const name = valueAt(searcher, "name");
  if (!isKnownSearcher(name)) return searcher;
  const keys: Readonly<Record<string, unknown>> = schemas[name].shape;
  const changes: Readonly<Record<string, Json>> = {
    metric: recorded.metric,
    smaller_is_better: recorded.smallerIsBetter,
    time_metric: recorded.timeMetric,
    // A searcher that trains to the end of its code ends where the record does.
    max_time: trainsToTheEnd(name) ? (valueAt(searcher, "max_time") ?? null) : recorded.maxTime,
    max_concurrent_trials: atMost(valueAt(searcher, "max_concurrent_trials"), recorded.workers),
  };
  // Both refer to hyperparameters of the configuration.
  const { constraints: _, warm_start: __, ...changed } = searcher;
  for (const [key, value] of Object.entries(changes)) if (key in keys) changed[key] = value;
  if (changed["max_time"] === null) delete changed["max_time"];
  const trials = valueAt(searcher, "max_trials") ?? null;
  const ownRound = trials === null && name === "hyperband" && roundOf(changed) <= recorded.trials;
  if ("max_trials" in keys && !ownRound) changed["max_trials"] = atMost(trials, recorded.trials);
  return changed;
}

/** How many trials hyperband has where no `max_trials` says it. */
function roundOf(searcher: JsonObject): number {
  const { max_time, divisor } = searchers.hyperband.read(searcher);
  return hyperbandTrials(max_time, divisor).reduce((sum, trials) => sum + trials, 0);
}

/** 0 and nothing are no limit; what is no number stays what it is, to be refused. */
function atMost(limit: Json | undefined, most: number): Json {
  if (limit === undefined || limit === null || limit === 0) return most;
  return typeof limit === "number" ? Math.min(limit, most) : limit;
}
