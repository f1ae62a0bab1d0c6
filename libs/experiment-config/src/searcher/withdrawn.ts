/** Determined's withdrawn searchers: their configurations are parsed, and the refusal names the replacement. */
import type { JsonObject } from "../json.ts";
import type { Shape, Values } from "../parts/values.ts";
import { adaptiveDefaults, bracketKeys, rungsKey, stopOnceKey } from "./halving.ts";
import { shared } from "./module.ts";

export type WithdrawnSearcher = {
  readonly keys: (values: Values) => Shape;
  readonly defaults: JsonObject;
  readonly required: readonly string[];
  readonly remedy: string;
};

const adaptiveKeys = (values: Values): Shape => ({
  ...bracketKeys(values),
  ...shared(values, ["divisor"]),
  ...stopOnceKey(values),
});
const budgetKeys = ({ flag, searcherLength }: Values): Shape => ({
  budget: searcherLength,
  train_stragglers: flag,
});

export const withdrawnSearchers = {
  adaptive: {
    keys: (values) => ({ ...adaptiveKeys(values), ...budgetKeys(values) }),
    defaults: { ...adaptiveDefaults, bracket_rungs: [], train_stragglers: true },
    required: ["budget"],
    remedy: "use adaptive_asha with max_trials, max_time and time_metric",
  },
  adaptive_simple: {
    keys: (values) => ({ ...shared(values, ["max_trials"]), ...adaptiveKeys(values) }),
    defaults: adaptiveDefaults,
    required: ["max_trials"],
    remedy: "use adaptive_asha with max_time and time_metric",
  },
  sync_halving: {
    keys: (values) => ({
      ...rungsKey(values),
      ...shared(values, ["divisor"]),
      ...stopOnceKey(values),
      ...budgetKeys(values),
    }),
    defaults: { divisor: adaptiveDefaults.divisor, train_stragglers: true },
    required: ["num_rungs", "budget"],
    remedy: "use async_halving with max_trials, max_time and time_metric",
  },
} as const satisfies Readonly<Record<string, WithdrawnSearcher>>;
