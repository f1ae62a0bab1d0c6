import { describe, expect, it } from "vitest";
import { exportJsonSchema } from "../json-schema.ts";
import type { JsonObject } from "../json.ts";
import { config, problems, yaml } from "../testing/documents.ts";

const list = (policies: string): string => `early_stopping: ${policies}`;

describe("early_stopping", () => {
  it("is empty by default", () => {
    expect(config().early_stopping).toEqual([]);
  });

  it.each<[string, object]>([
    [
      "{name: no_improvement, patience: 5}",
      {
        name: "no_improvement",
        patience: 5,
        patience_time: null,
        min_delta: 0,
        min_delta_relative: 0,
        grace: 0,
      },
    ],
    [
      "{name: no_improvement, patience_time: 2.5, min_delta_relative: 0.01, grace: 3}",
      {
        name: "no_improvement",
        patience: null,
        patience_time: 2.5,
        min_delta: 0,
        min_delta_relative: 0.01,
        grace: 3,
      },
    ],
    [
      "{name: threshold, upper: 10, grace: 1}",
      { name: "threshold", lower: null, upper: 10, grace: 1 },
    ],
    ["{name: median}", { name: "median", min_trials: 3, grace: 0 }],
    [
      "{name: percentile, percentile: 25, min_trials: 5}",
      { name: "percentile", percentile: 25, min_trials: 5, grace: 0 },
    ],
    ["{name: pbt}", { name: "pbt", quantile: 0.25, patience: 3, grace: 0 }],
    ["{name: not_finite}", { name: "not_finite" }],
    [
      "{name: budget, max_wall_time: 1.5h, max_trials: 4}",
      { name: "budget", max_wall_time: 5_400, max_slot_hours: null, max_trials: 4 },
    ],
    [
      "{name: budget, max_wall_time: 90, max_slot_hours: 0.5}",
      { name: "budget", max_wall_time: 90, max_slot_hours: 0.5, max_trials: null },
    ],
    [
      "{any: [{name: not_finite}, {all: [{name: not_finite}]}]}",
      { any: [{ name: "not_finite" }, { all: [{ name: "not_finite" }] }] },
    ],
  ])("takes %s", (policy, expected) => {
    expect(config(list(`[${policy}]`)).early_stopping).toEqual([expected]);
  });

  const names = "no_improvement, threshold, median, percentile, pbt, not_finite, budget";

  it.each<[string, string]>([
    ["{name: median}", "early_stopping must be a list, not a mapping"],
    ["[median]", 'early_stopping[0] must be a mapping, not "median"'],
    ["[{}]", `early_stopping[0].name is missing: it must be one of ${names}`],
    [
      "[{name: medain}]",
      `early_stopping[0].name must be one of ${names}, not "medain"; "median" is one`,
    ],
    [
      "[{name: patience}]",
      `early_stopping[0].name must be one of ${names}, not "patience"; "no_improvement" is one`,
    ],
    [
      "[{name: median, n_warmup_steps: 3}]",
      'early_stopping[0].n_warmup_steps is not a known key; "grace" is',
    ],
    [
      "[{name: median, min_samples_required: 3}]",
      'early_stopping[0].min_samples_required is not a known key; "min_trials" is',
    ],
    [
      "[{name: no_improvement}]",
      "early_stopping[0].patience is missing: it says how many reports may pass without an improvement (or patience_time: how long)",
    ],
    [
      "[{name: no_improvement, patience: 2, patience_time: 3}]",
      "early_stopping[0].patience_time cannot be combined with patience: give one of them",
    ],
    [
      "[{name: no_improvement, patience: 2, min_delta: 3, min_delta_relative: 0.1}]",
      "early_stopping[0].min_delta_relative cannot be combined with min_delta: give one of them",
    ],
    [
      "[{name: threshold}]",
      "early_stopping[0] needs lower, upper or both: the values between which a trial continues",
    ],
    [
      "[{name: threshold, lower: 3, upper: 1}]",
      "early_stopping[0].lower must not be greater than upper: 3 is greater than 1",
    ],
    ["[{name: percentile}]", "early_stopping[0].percentile is missing: it must be a number"],
    [
      "[{name: percentile, percentile: 100}]",
      "early_stopping[0].percentile must be at most 100, not 100",
    ],
    ["[{name: pbt, quantile: 0.7}]", "early_stopping[0].quantile must be at most 0.5, not 0.7"],
    [
      "[{name: budget}]",
      "early_stopping[0] has no limit: give max_wall_time, max_slot_hours, max_trials or several of them",
    ],
    [
      "[{name: budget, max_wall_time: soon}]",
      'early_stopping[0].max_wall_time must be a time: a number of seconds, or text such as "90s", "30m", "2h", "1d"',
    ],
    [
      "[{name: budget, timeout: 3}]",
      'early_stopping[0].timeout is not a known key; "max_wall_time" is',
    ],
    [
      "[{name: budget, max_trials: 3}, {name: budget, max_wall_time: 1h}]",
      "early_stopping[1] is a second budget: give all limits in early_stopping[0]",
    ],
    [
      "[{all: [{name: not_finite}, {name: budget, max_trials: 3}]}]",
      "early_stopping[0].all[1] is a budget, which limits the whole search: move it to the top level of early_stopping",
    ],
    ["[{any: []}]", "early_stopping[0].any must be a list of at least 1 item"],
    [
      "[{any: [{name: threshold}]}]",
      "early_stopping[0].any[0] needs lower, upper or both: the values between which a trial continues",
    ],
    ["[{any: [{name: not_finite}], name: median}]", "early_stopping[0].name is not a known key"],
  ])("refuses %s", (policies, problem) => {
    expect(problems(yaml(list(policies)))[0]).toBe(problem);
  });

  it("of the user overrides the cluster's", () => {
    const storage = { type: "directory", container_path: "/c" };
    const defaults = { checkpoint_storage: storage, early_stopping: [{ name: "not_finite" }] };
    expect(config("", { defaults }).early_stopping).toEqual([{ name: "not_finite" }]);
    expect(config(list("[]"), { defaults }).early_stopping).toEqual([]);
  });

  it("has one definition in the JSON Schema, also for nested policies", () => {
    const { early_stopping_policy: policy } = exportJsonSchema()["$defs"] as JsonObject;
    for (const word of ["no_improvement", "max_slot_hours", "#/$defs/early_stopping_policy"]) {
      expect(JSON.stringify(policy)).toContain(word);
    }
  });
});

describe("max_time and time_metric", () => {
  it.each(["single", "random", "grid", "sobol", "tpe", "gp"])("are keys of %s", (name) => {
    const trials = name === "single" || name === "grid" ? "" : ", max_trials: 2";
    const keys = `{name: ${name}, metric: loss${trials}, max_time: 9, time_metric: epochs}`;
    expect(config(`searcher: ${keys}`).searcher).toMatchObject({
      max_time: 9,
      time_metric: "epochs",
    });
  });
});
