import { describe, expect, it } from "vitest";
import { config, problems, yaml } from "../testing/documents.ts";

const lr =
  "hyperparameters: {lr: {type: double, minval: 0, maxval: 1}, opt: {name: {type: categorical, vals: [a, b]}, k: 1}}";
const of = (searcher: string, space = lr): string =>
  `searcher: {metric: loss, ${searcher}}\n${space}`;

describe("the searcher pbt", () => {
  it("fills in the keys that a short section leaves out", () => {
    expect(config(of("name: pbt, max_time: 100")).searcher).toEqual({
      name: "pbt",
      metric: "loss",
      smaller_is_better: true,
      time_metric: "",
      population_size: 16,
      max_concurrent_trials: 0,
      max_time: 100,
      interval: 5,
      burn_in: 0,
      quantile: 0.25,
      exploit: "truncation",
      resample_probability: 0.25,
      perturb_factors: [0.8, 1.2],
      mutate: [],
      max_trials: 320,
    });
  });

  it("keeps given values", () => {
    const given =
      "population_size: 4, max_time: 100, interval: 30, burn_in: 10, quantile: 0.5, exploit: tournament, resample_probability: 0, perturb_factors: [2], mutate: [lr, opt], time_metric: epochs, max_trials: 9";
    const { searcher } = config(of(`name: pbt, smaller_is_better: false, ${given}`));
    expect(searcher).toMatchObject({
      population_size: 4,
      interval: 30,
      exploit: "tournament",
      perturb_factors: [2],
      mutate: ["lr", "opt"],
      time_metric: "epochs",
      max_trials: 9,
    });
    expect(
      config(of("name: pbt, max_time: 100, interval: 30, population_size: 4")).searcher,
    ).toMatchObject({ max_trials: 16 });
  });

  it.each([
    [
      "name: pbt",
      "searcher.max_time is missing: the searcher pbt needs it: the most that one trial trains, counted in time_metric",
    ],
    ["name: pbt, max_time: 1", /^searcher\.max_time must be at least 2/],
    [
      "name: pbt, max_time: 9, population_size: 1",
      "searcher.population_size must be at least 2, not 1",
    ],
    [
      "name: pbt, max_time: 9, population_size: 2000",
      /^searcher\.population_size must be at most 1000/,
    ],
    ["name: pbt, max_time: 9, interval: 9", /^searcher\.interval must be less than max_time/],
    ["name: pbt, max_time: 9, burn_in: 9", /^searcher\.burn_in must be less than max_time/],
    ["name: pbt, max_time: 9, quantile: 0.6", "searcher.quantile must be at most 0.5, not 0.6"],
    [
      "name: pbt, max_time: 9, resample_probability: 2",
      /^searcher\.resample_probability must be at most 1/,
    ],
    ["name: pbt, max_time: 9, perturb_factors: [0.8, 1]", /^searcher\.perturb_factors\[1\] is 1/],
    [
      "name: pbt, max_time: 9, perturb_factors: [0]",
      /^searcher\.perturb_factors\[0\] must be greater than 0/,
    ],
    [
      "name: pbt, max_time: 9, exploit: ttest",
      /^searcher\.exploit must be one of "truncation", "tournament"/,
    ],
    [
      "name: pbt, max_time: 9, max_trials: 3",
      /^searcher\.max_trials must be at least population_size.*3 is less than 16$/,
    ],
    [
      "name: pbt, max_time: 9, mutate: [opt.k]",
      "searcher.mutate[0] must name a hyperparameter with several values: opt.k is not one of lr, opt.name",
    ],
    ["name: pbt, max_time: 9, mutate: []", /^searcher\.mutate must be a list of at least 1 item/],
  ])("refuses %s", (searcher, problem) => {
    const found = problems(yaml(of(searcher)));
    expect(found).toHaveLength(1);
    if (typeof problem === "string") expect(found[0]).toBe(problem);
    else expect(found[0]).toMatch(problem);
  });

  it("refuses a space in which all members would be equal", () => {
    const found = problems(yaml(of("name: pbt, max_time: 9", "hyperparameters: {lr: 1}")));
    expect(found).toEqual([
      expect.stringMatching(/^hyperparameters must have a hyperparameter with several values/),
    ]);
  });
});

describe("the searcher schedule", () => {
  const segments = (...list: string[]): string => `name: schedule, schedule: [${list.join(", ")}]`;
  const values = "hyperparameters: {lr: 0.1, opt: {name: a}}";

  it("accepts segments with and without seeds", () => {
    const text = of(segments(`{until: 4, ${values}, seed: 7}`, `{until: 9.5, ${values}}`));
    expect(config(text).searcher).toEqual({
      name: "schedule",
      metric: "loss",
      smaller_is_better: true,
      time_metric: "",
      schedule: [
        { until: 4, hyperparameters: { lr: 0.1, opt: { name: "a" } }, seed: 7 },
        { until: 9.5, hyperparameters: { lr: 0.1, opt: { name: "a" } }, seed: null },
      ],
    });
  });

  it("needs no hyperparameter space if the segments define all values", () => {
    expect(config(of(segments(`{until: 4, ${values}}`), "hyperparameters: {}")).searcher.name).toBe(
      "schedule",
    );
  });

  it.each([
    ["name: schedule", "searcher.schedule is missing: the searcher schedule needs it"],
    [
      segments(`{until: 4, ${values}}`, `{until: 4, ${values}}`),
      /^searcher\.schedule\[1\]\.until must be later/,
    ],
    [segments(`{until: 0, ${values}}`), /^searcher\.schedule\[0\]\.until must be greater than 0/],
    [
      segments("{until: 4, hyperparameters: {lr: 0.1}}"),
      "searcher.schedule[0].hyperparameters has no value for opt.name, which can have several values",
    ],
    [segments("{until: 4}"), /^searcher\.schedule\[0\]\.hyperparameters is missing/],
    ["name: schedule, schedule: []", /^searcher\.schedule must be a list of at least 1 item/],
  ])("refuses %s", (searcher, problem) => {
    const found = problems(yaml(of(searcher)));
    expect(found).toHaveLength(1);
    if (typeof problem === "string") expect(found[0]).toBe(problem);
    else expect(found[0]).toMatch(problem);
  });
});
