/**
 * A small configuration of every registered search method, for test suites that all methods must pass; new methods are
 * included automatically.
 */
import { exportJsonSchema, type NormalisedConfig } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { acceptExperiment } from "../acceptance/accepted.ts";
import { algorithmNames } from "../algorithms/registry.ts";

/** The values of searcher keys, used by the searchers that have them. */
const settings: Readonly<Record<string, unknown>> = {
  metric: "loss",
  smaller_is_better: true,
  max_trials: 14,
  max_concurrent_trials: 4,
  max_time: 9,
  // Searchers that count batches need no report of them, since they are the step.
  time_metric: "batches",
  min_time: 1,
  divisor: 3,
  num_rungs: 3,
  max_rungs: 3,
  population_size: 4,
  interval: 2,
  schedule: [
    { until: 3, hyperparameters: { lr: 0.01, units: 8 } },
    { until: 6, hyperparameters: { lr: 0.001, units: 8 } },
    { until: 9, hyperparameters: { lr: 0.0001, units: 8 } },
  ],
};

/** Every policy, with settings that stop some of a dozen trials. */
const earlyStopping = [
  { name: "not_finite" },
  {
    all: [
      { name: "no_improvement", patience: 3 },
      { name: "percentile", percentile: 80 },
    ],
  },
  { name: "median", min_trials: 2, grace: 4 },
  { name: "pbt", patience: 4, grace: 5 },
  { name: "threshold", upper: 2.5, grace: 3 },
  { name: "budget", max_trials: 12, max_wall_time: "30d", max_slot_hours: 1_000 },
];

/** The suffix of methods with policies that stop their trials. */
const WITH_POLICIES = " with early stopping";

export const methods: readonly string[] = [
  ...algorithmNames(),
  ...["random", "asha", "adaptive_asha"].map((name) => `${name}${WITH_POLICIES}`),
];

/** Exported once, which takes longer than most searches of an example. */
const editorsSchema = exportJsonSchema();

/** The keys of a searcher, read from the JSON Schema for editors. */
function keysOf(name: string): ReadonlySet<string> {
  const keys = new Set<string>();
  collect(editorsSchema, name, keys);
  return keys;
}

function collect(schema: unknown, name: string, keys: Set<string>): void {
  if (schema === null || typeof schema !== "object") return;
  const { properties } = schema as { properties?: Record<string, { const?: unknown }> };
  if (properties?.["name"]?.const === name) {
    for (const key of Object.keys(properties)) keys.add(key);
  }
  for (const part of Object.values(schema)) collect(part, name, keys);
}

export function exampleOf(method: string): NormalisedConfig {
  const name = method.replace(WITH_POLICIES, "");
  const keys = keysOf(name);
  const searcher = Object.fromEntries(Object.entries(settings).filter(([key]) => keys.has(key)));
  const document = {
    name: `example-${name}`,
    entrypoint: "true",
    checkpoint_storage: { type: "directory", container_path: "/checkpoints" },
    hyperparameters: {
      lr: { type: "log", base: 10, minval: -4, maxval: -1, count: 4 },
      units: { type: "int", minval: 4, maxval: 64, count: 3 },
    },
    searcher: { name, ...searcher },
    ...(method === name ? {} : { early_stopping: earlyStopping }),
  };
  const accepted = acceptExperiment(JSON.stringify(document));
  if (isRejection(accepted)) {
    throw new Error(
      `no example for a key of ${name}: ${JSON.stringify(accepted.problems ?? accepted)}`,
    );
  }
  return accepted.config;
}
