import { describe, expect, it } from "vitest";
import { hyperparameterSpace, type NormalisedConfig, withSeed } from "./config.ts";
import { config, defaults, directory, grid, parsed, problems, yaml } from "./testing/documents.ts";

describe("parseExperiment fills in", () => {
  it("every default", () => {
    expect(config()).toEqual({
      name: "",
      description: "",
      labels: [],
      workspace: "",
      project: "",
      entrypoint: "python3 train.py",
      hyperparameters: {},
      early_stopping: [],
      searcher: { name: "single", metric: "loss", smaller_is_better: true },
      resources: {
        slots_per_trial: 1,
        priority: null,
        resource_pool: "default",
        weight: 1,
        max_slots: null,
        time_limit: null,
        is_single_node: false,
      },
      retention_policy: {
        log_retention_days: null,
        metric_retention_days: null,
        group_retention_days: {},
      },
      log_policies: [
        { name: "CUDA OOM", pattern: ".*CUDA out of memory.*" },
        { name: "ECC Error", pattern: ".*uncorrectable ECC error encountered.*" },
      ],
      preemption_timeout: 3_600,
      max_restarts: 5,
      checkpoint_storage: {
        ...directory,
        save_experiment_best: 0,
        save_trial_best: 1,
        save_trial_latest: 1,
      },
      environment: { environment_variables: { cpu: [], cuda: [], rocm: [] } },
      reproducibility: { experiment_seed: null },
      data: {},
      debug: false,
    });
  });

  it("the concurrency of random, sobol and grid searches", () => {
    const tpe = config("searcher: {name: tpe, metric: loss, max_trials: 3}").searcher;
    expect(tpe).toMatchObject({ max_concurrent_trials: 16, multivariate: true });
    expect(config("searcher: {name: sobol, metric: loss, max_trials: 3}").searcher).toEqual({
      name: "sobol",
      metric: "loss",
      smaller_is_better: true,
      max_trials: 3,
      max_concurrent_trials: 16,
    });
    expect(config("searcher: {name: random, metric: loss, max_trials: 3}").searcher).toEqual({
      name: "random",
      metric: "loss",
      smaller_is_better: true,
      max_trials: 3,
      max_concurrent_trials: 16,
    });
    expect(config(grid).searcher).toMatchObject({ max_concurrent_trials: 16 });
  });

  it("no default where a value is given", () => {
    const text = `
name: n
labels: [b, a, b]
entrypoint: [python3, train.py]
max_restarts: 0
resources: {slots_per_trial: 0, priority: 1, resource_pool: gpu}
reproducibility: {experiment_seed: 0}
searcher: {name: grid, metric: acc, smaller_is_better: false, max_concurrent_trials: 0}
debug: true`;
    expect(config(text)).toMatchObject({
      name: "n",
      labels: ["a", "b"],
      entrypoint: ["python3", "train.py"],
      max_restarts: 0,
      resources: { slots_per_trial: 0, priority: 1, resource_pool: "gpu" },
      reproducibility: { experiment_seed: 0 },
      searcher: { smaller_is_better: false, max_concurrent_trials: 0 },
      debug: true,
    });
  });

  it("defaults in place of null, which means absent", () => {
    const text = `
name: null
max_restarts: null
resources: {slots_per_trial: null}
searcher: {name: single, metric: loss, smaller_is_better: null}
environment: {environment_variables: null}
bind_mounts: null`;
    const { config: filled, warnings } = parsed(yaml(text));
    expect(filled).toEqual(config());
    expect(warnings).toEqual([]);
  });

  it("the same text for equal configurations, whatever the order of their keys", () => {
    const one = config("data: {b: 1, a: {d: 1, c: 2}}\nhyperparameters: {y: 1, x: {w: 2, v: 3}}");
    const other = config("hyperparameters: {x: {v: 3, w: 2}, y: 1}\ndata: {a: {c: 2, d: 1}, b: 1}");
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });
});

describe("parseExperiment rewrites", () => {
  it("bare literals, lists and nulls to constants, and keeps nests, even empty ones", () => {
    const { hyperparameters } = config(`
hyperparameters:
  lr: {type: log, minval: -4, maxval: -1, base: 10, count: null}
  n: {type: int, minval: 1, maxval: 9, count: 3}
  act: {type: categorical, vals: [relu, null, {a: 1}]}
  nothing: null
  explicit: {type: const, val: null}
  layers: [3, {b: 1, a: 2}]
  optimizer: {type: {type: const, val: adam}, lr: 0.1, empty: {}}`);
    expect(hyperparameters).toEqual({
      act: { type: "categorical", vals: ["relu", null, { a: 1 }] },
      explicit: { type: "const", val: null },
      layers: { type: "const", val: [3, { a: 2, b: 1 }] },
      lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
      n: { type: "int", minval: 1, maxval: 9, count: 3 },
      nothing: { type: "const", val: null },
      optimizer: {
        empty: {},
        lr: { type: "const", val: 0.1 },
        type: { type: "const", val: "adam" },
      },
    });
  });

  it("the older mapping of labels to a list", () => {
    expect(config("labels: {b: true, a: 1, c: false}").labels).toEqual(["a", "b"]);
  });

  it("one list of variables to a list per kind of device, with the later value of a repeated name", () => {
    const { environment } = config("environment: {environment_variables: [A=1, B=x=y, A=2]}");
    const list = ["B=x=y", "A=2"];
    expect(environment.environment_variables).toEqual({ cpu: list, cuda: list, rocm: list });
  });

  it("the device kind gpu to cuda", () => {
    const { environment } = config(
      "environment: {environment_variables: {gpu: [A=1], cpu: [C=1]}}",
    );
    expect(environment.environment_variables).toEqual({ cpu: ["C=1"], cuda: ["A=1"], rocm: [] });
  });

  it("no nulls under data", () => {
    expect(config("data: {a: null, b: [null]}").data).toEqual({ a: null, b: [null] });
  });
});

describe("overrides", () => {
  const overridden = (...overrides: string[]): NormalisedConfig =>
    config("hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}", { defaults, overrides });

  it("replace one value, read as YAML, and later overrides win over earlier ones", () => {
    const changed = overridden("name=a", "name=b c", "max_restarts=2", "hyperparameters.lr=1e-3");
    expect(changed).toMatchObject({
      name: "b c",
      max_restarts: 2,
      hyperparameters: { lr: { type: "const", val: 1e-3 } },
    });
  });

  it("create missing parents, accept mappings, and remove a key with an empty value", () => {
    const changed = overridden(
      "data.a.b=[1, 2]",
      "searcher={name: grid, metric: x}",
      "entrypoint=sh -c a=b",
      "hyperparameters.lr=",
    );
    expect(changed).toMatchObject({
      data: { a: { b: [1, 2] } },
      searcher: { name: "grid", metric: "x" },
      entrypoint: "sh -c a=b",
      hyperparameters: { lr: { type: "const", val: null } },
    });
    expect(overridden("name=x", "name=").name).toBe("");
  });

  it.each([
    ["a", /^a the override "a" must have the form path\.to\.key=value/],
    ["=1", /must have the form path\.to\.key=value/],
    ["a..b=1", /^a\.\.b .*must have the form/],
    ["name=[", /^name line 1, column 2: flow sequence/],
    ["entrypoint.x=1", /^entrypoint is not a mapping/],
    ["__proto__.x=1", /^__proto__\.x is not allowed as a key/],
    ["data={__proto__: 1}", /^data\.__proto__ is not allowed as a key/],
    ["nmae=1", /^nmae is not a known key/],
    ["resources.priority=0", /^resources\.priority must be at least 1/],
  ])("are refused with their path: %s", (override, problem) => {
    expect(problems(yaml(), { defaults, overrides: [override] })[0]).toMatch(problem);
    expect(({} as Record<string, unknown>)["x"]).toBe(undefined);
  });
});

describe("the cluster's defaults", () => {
  it("are overridden by the user's values, key by key", () => {
    const merged = config("resources: {priority: 7}\nmax_restarts: 1", {
      defaults: {
        ...defaults,
        resources: { priority: 50, slots_per_trial: 4 },
        max_restarts: 9,
        debug: true,
      },
    });
    expect(merged).toMatchObject({
      resources: { priority: 7, slots_per_trial: 4 },
      max_restarts: 1,
      debug: true,
    });
  });

  it("keep counts but not paths if the user names another type of storage", () => {
    const merged = config("checkpoint_storage: {type: shared_fs, host_path: /nfs}", {
      defaults: { checkpoint_storage: { ...directory, save_trial_latest: 3 } },
    });
    expect(merged.checkpoint_storage).toEqual({
      type: "shared_fs",
      host_path: "/nfs",
      storage_path: "",
      save_experiment_best: 0,
      save_trial_best: 1,
      save_trial_latest: 3,
    });
  });

  it("complete a storage without a type", () => {
    const merged = config("checkpoint_storage: {save_trial_best: 7}");
    expect(merged.checkpoint_storage).toMatchObject({ ...directory, save_trial_best: 7 });
  });

  it("do not add keys of their searcher to the user's searcher", () => {
    const merged = config("searcher: {name: single}", {
      defaults: {
        ...defaults,
        searcher: { name: "random", metric: "acc", smaller_is_better: false, max_trials: 3 },
      },
    });
    expect(merged.searcher).toEqual({ name: "single", metric: "acc", smaller_is_better: false });
  });

  it("merge nests, but never merge a single hyperparameter", () => {
    const merged = config("hyperparameters: {a: {type: int, minval: 1, maxval: 2}, n: {x: 1}}", {
      defaults: {
        ...defaults,
        hyperparameters: { a: { type: "int", minval: 5, maxval: 6, count: 3 }, n: { x: 2, y: 3 } },
      },
    });
    expect(merged.hyperparameters).toEqual({
      a: { type: "int", minval: 1, maxval: 2, count: null },
      n: { x: { type: "const", val: 1 }, y: { type: "const", val: 3 } },
    });
  });

  it("add labels and environment variables, and the user's values win", () => {
    const merged = config("labels: [b]\nenvironment: {environment_variables: [A=mine]}", {
      defaults: {
        ...defaults,
        labels: ["a"],
        environment: { environment_variables: { cpu: ["A=theirs", "B=theirs"] } },
      },
    });
    expect(merged.labels).toEqual(["a", "b"]);
    expect(merged.environment.environment_variables).toEqual({
      cpu: ["B=theirs", "A=mine"],
      cuda: ["A=mine"],
      rocm: ["A=mine"],
    });
  });
});

describe("credentials", () => {
  it("of pachyderm are not stored, and the webhooks beside them are stored", () => {
    const text = "integrations: {pachyderm: {dataset: {token: secret}}, webhooks: {exclude: true}}";
    expect(config(text)).toMatchObject({ integrations: { webhooks: { exclude: true } } });
    expect(JSON.stringify(config(text))).not.toContain("secret");
  });
});

describe("accessors of a configuration", () => {
  it("return its space, and its seed once it is drawn", () => {
    expect(hyperparameterSpace(config("hyperparameters: {a: 1}"))).toEqual({
      a: { type: "const", val: 1 },
    });
    expect(withSeed(config(), 7)).toEqual({ ...config(), reproducibility: { experiment_seed: 7 } });
  });
});
