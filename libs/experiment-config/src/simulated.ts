/**
 * A configuration for a search against recorded trainings: the document's searcher over the recorded space and metric.
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
import { isSearcherName, searcherFacts, searchers } from "./searcher/searcher.ts";

export type RecordedTrainings = {
  readonly space: HyperparameterSpace;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  readonly timeMetric: string;
  /** The time of one complete training. */
  readonly maxTime: number;
  /** The number of trained configurations. */
  readonly trials: number;
  /** The number of concurrent trainings. */
  readonly workers: number;
};

/**
 * Parses like `parseExperiment`, but hyperparameters, metric, direction, time metric and longest time are those of the
 * trainings. The number of trials and the concurrency are limited to the trainings and the workers. Constraints and a
 * warm start are left out, and the entrypoint may be missing.
 */
export function parseForRecorded(
  yamlText: string,
  options: ParseOptions,
  recorded: RecordedTrainings,
): ParsedExperiment | Rejection {
  const read = readYaml(yamlText);
  // An unreadable text gets the same refusal as in `parseExperiment`.
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
    // A trial that trains to the end of its code ends with the recorded training.
    max_time: searcherFacts(name).trainsToTheEnd
      ? (valueAt(searcher, "max_time") ?? null)
      : recorded.maxTime,
    max_concurrent_trials: atMost(valueAt(searcher, "max_concurrent_trials"), recorded.workers),
  };
  // Constraints and warm start refer to hyperparameters of the document, which are not used.
  const { constraints: _, warm_start: __, ...changed } = searcher;
  for (const [key, value] of Object.entries(changes)) if (key in keys) changed[key] = value;
  if (changed["max_time"] === null) delete changed["max_time"];
  const trials = valueAt(searcher, "max_trials") ?? null;
  const ownRound = trials === null && name === "hyperband" && roundOf(changed) <= recorded.trials;
  if ("max_trials" in keys && !ownRound) changed["max_trials"] = atMost(trials, recorded.trials);
  return changed;
}

/** Returns hyperband's number of trials without `max_trials`. */
function roundOf(searcher: JsonObject): number {
  const { max_time, divisor } = searchers.hyperband.read(searcher);
  return hyperbandTrials(max_time, divisor).reduce((sum, trials) => sum + trials, 0);
}

/**
 * Returns the limit, at most `most`. 0 and null mean no limit; a value that is no number is returned unchanged, to be
 * refused later.
 */
function atMost(limit: Json | undefined, most: number): Json {
  if (limit === undefined || limit === null || limit === 0) return most;
  return typeof limit === "number" ? Math.min(limit, most) : limit;
}
