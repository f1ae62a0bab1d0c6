import { isRejection, limits } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { parseExperiment } from "./parse.ts";
import { searcherNames } from "./searcher/searcher.ts";
import { defaults, grid, problems, yaml } from "./testing/documents.ts";

const running = searcherNames.join(", ");

/** An addition to a valid configuration, and the one problem that it causes. */
const wrong: readonly (readonly [more: string, problem: string | RegExp])[] = [
  ["nmae: x", 'nmae is not a known key; "name" is'],
  ["early_stoping: []", 'early_stoping is not a known key; "early_stopping" is'],
  ["constructor: 1", "constructor is not a known key"],
  ["toString: 1", "toString is not a known key"],
  ["name: [x]", "name must be text, not a list"],
  ["description: 3", "description must be text, not 3"],
  [`workspace: ${"w".repeat(256)}`, "workspace must be a name of at most 255 characters"],
  ["labels: 3", /^labels must be a list of texts/],
  ["data: [1]", "data must be a mapping, not a list"],
  ["debug: maybe", 'debug must be true or false, not "maybe"'],
  ["entrypoint: []", "entrypoint must be a list of at least 1 item"],
  ["entrypoint: ''", "entrypoint must be text of at least one character"],
  ["entrypoint: ' '", "entrypoint is blank: it is the command that trains"],
  ["entrypoint: {a: b}", "entrypoint must be a command: text, or a list of texts"],
  [
    "entrypoint: model_def:Trial",
    /^entrypoint names a trial class \(model_def:Trial\), which this version does not run: give the command/,
  ],
  ["entrypoint: a.b:trials.Inner", /^entrypoint names a trial class \(a\.b:trials\.Inner\)/],
  ["entrypoint: ['model_def:Trial']", /^entrypoint names a trial class \(model_def:Trial\)/],
  [
    "validation_period: {batches: 1}",
    'validation_period is not a known key; "min_validation_period" is',
  ],
  ["searcher: {metric: loss}", `searcher.name is missing: it must be one of ${running}`],
  ["searcher: {name: single}", /^searcher\.metric is missing/],
  ["searcher: single", 'searcher must be a mapping, not "single"'],
  [
    "searcher: {name: {toString: 1}, metric: loss}",
    `searcher.name must be one of ${running}, not a mapping`,
  ],
  [
    "early_stopping: [{name: {toString: 1}}]",
    /^early_stopping\[0\]\.name must be one of .*, not a mapping/,
  ],
  [
    "early_stopping: [{name: toString}]",
    /^early_stopping\[0\]\.name must be one of .*, not "toString"/,
  ],
  [
    "searcher: {name: randm, metric: loss}",
    `searcher.name must be one of ${running}, not "randm"; "random" is one`,
  ],
  [
    "searcher: {name: random, metric: loss}",
    "searcher.max_trials is missing: the searcher random needs it",
  ],
  [
    "searcher: {name: random, metric: loss, max_trials: 0}",
    "searcher.max_trials must be at least 1, not 0",
  ],
  [
    "searcher: {name: random, metric: loss, max_trials: 1000001}",
    "searcher.max_trials must be at most 1000000, not 1000001",
  ],
  [
    "searcher: {name: random, metric: loss, max_trials: 2, max_concurrent_trials: -1}",
    "searcher.max_concurrent_trials must be at least 0, not -1",
  ],
  ["searcher: {name: single, metric: loss, num_rungs: 2}", "searcher.num_rungs is not a known key"],
  [
    "searcher: {name: single, metric: loss, smaller_is_better: yes please}",
    'searcher.smaller_is_better must be true or false, not "yes please"',
  ],
  [
    "searcher: {name: async_halving, metric: loss, num_rungs: 3, max_trials: 4, max_time: 9}",
    "searcher.time_metric is missing: the searcher async_halving needs it: the name of what max_time counts, for example batches or epochs",
  ],
  [
    "searcher: {name: asha, metric: loss, max_trials: 4, max_time: 9, min_time: 10}",
    "searcher.min_time must not be greater than max_time: 10 is greater than 9",
  ],
  [
    "searcher: {name: asha, metric: loss, max_trials: 4, max_time: 9, divisor: 1.5}",
    /^searcher\.divisor must be/,
  ],
  [
    "searcher: {name: hyperband, metric: loss, max_time: 4000000000, divisor: 2}",
    /^searcher\.max_time makes \d+ trials with the divisor 2; the limit is \d+: give a max_trials/,
  ],
  [
    "searcher: {name: adaptive_simple, metric: loss, max_trials: 4}",
    `searcher.name is adaptive_simple, which has been withdrawn; use adaptive_asha with max_time and time_metric instead (${running} run in this version)`,
  ],
  [
    "searcher: {name: adaptive, metric: loss, budget: {batches: 3}}",
    /^searcher\.name is adaptive, which has been withdrawn/,
  ],
  [
    "searcher: {name: sync_halving, metric: loss, num_rungs: 3, budget: 9}",
    /^searcher\.name is sync_halving, which has been withdrawn/,
  ],
  ["searcher: {name: custom, metric: loss, unit: eons}", /^searcher\.unit must be one of/],
  [
    "searcher: {name: custom, metric: loss, max_trials: 0}",
    /^searcher\.max_trials must be at least 1/,
  ],
  ["searcher: {name: custom}", /^searcher\.metric is missing/],
  ["hyperparameters: [1]", "hyperparameters must be a mapping, not a list"],
  [
    "hyperparameters: {a: {type: int, minval: 2, maxval: 2}}",
    "hyperparameters.a.minval must be less than maxval: 2 is not less than 2",
  ],
  [
    "hyperparameters: {a: {b: {type: double, minval: 2, maxval: 1}}}",
    "hyperparameters.a.b.minval must be less than maxval: 2 is not less than 1",
  ],
  [
    "hyperparameters: {a: {type: log, minval: 1, maxval: -1, base: 10}}",
    "hyperparameters.a.minval must be less than maxval: 1 is not less than -1",
  ],
  [
    "hyperparameters: {a: {type: log, minval: 1, maxval: 2}}",
    "hyperparameters.a.base is missing: it must be a number",
  ],
  [
    "hyperparameters: {a: {type: log, minval: 1, maxval: 2, base: 0}}",
    "hyperparameters.a.base must be greater than 0, not 0",
  ],
  [
    "hyperparameters: {a: {type: log, minval: 1, maxval: 999, base: 10}}",
    "hyperparameters.a.maxval is an exponent: 10 to the power of 999 is not a number that can be used",
  ],
  [
    "hyperparameters: {a: {type: double, minval: -1.5e+308, maxval: 1.5e+308}}",
    "hyperparameters.a.maxval is too far from minval: the difference is not a finite number",
  ],
  [
    "hyperparameters: {a: {type: int, minval: 0.5, maxval: 2}}",
    "hyperparameters.a.minval must be a whole number, not 0.5",
  ],
  [
    "hyperparameters: {a: {type: int, maxval: 2}}",
    "hyperparameters.a.minval is missing: it must be a whole number",
  ],
  [
    "hyperparameters: {a: {type: int, minval: 1, maxval: 2, count: 0}}",
    "hyperparameters.a.count must be at least 1, not 0",
  ],
  [
    "hyperparameters: {a: {type: double, minval: low, maxval: 2}}",
    'hyperparameters.a.minval must be a number, not "low"',
  ],
  [
    "hyperparameters: {a: {type: double, minval: 1, maxval: 2, cuont: 3}}",
    'hyperparameters.a.cuont is not a known key; "count" is',
  ],
  [
    "hyperparameters: {a: {type: categorical, vals: []}}",
    "hyperparameters.a.vals must be a list of at least 1 item",
  ],
  [
    "hyperparameters: {a: {type: categorical}}",
    "hyperparameters.a.vals is missing: it must be a list",
  ],
  [
    "hyperparameters: {a: {type: adam}}",
    /^hyperparameters\.a\.type is not a type of hyperparameter .* write type: \{type: const, val: adam\}$/,
  ],
  [
    "hyperparameters: {'a.b': {c d: {type: int, minval: 1}}}",
    'hyperparameters["a.b"]["c d"].maxval is missing: it must be a whole number',
  ],
  [
    `${grid}hyperparameters: {a: {type: double, minval: 1, maxval: 2}}`,
    "hyperparameters.a.count is missing: a grid search needs the number of points on each axis",
  ],
  [
    `${grid}hyperparameters: {a: [1, {type: int, minval: 1, maxval: 2}]}`,
    "hyperparameters.a[1].count is missing: a grid search needs the number of points on each axis",
  ],
  [
    `${grid}hyperparameters: {a: {type: int, minval: 1, maxval: 2000000, count: 2000000}}`,
    "hyperparameters make a grid of 2000000 points; the limit is 1000000",
  ],
  [
    "resources: {slots_per_trail: 1}",
    'resources.slots_per_trail is not a known key; "slots_per_trial" is',
  ],
  ["resources: {slots_per_trial: -1}", "resources.slots_per_trial must be at least 0, not -1"],
  [
    "resources: {slots_per_trial: 1.5}",
    "resources.slots_per_trial must be a whole number, not 1.5",
  ],
  ["resources: {priority: 0}", "resources.priority must be at least 1, not 0"],
  ["resources: {priority: 100}", "resources.priority must be at most 99, not 100"],
  ["resources: {resource_pool: a b}", /^resources\.resource_pool must be a pool's name/],
  [
    "resources: {max_slots: 2, slots_per_trial: 4}",
    "resources.max_slots must be at least slots_per_trial, 4, not 2",
  ],
  ["resources: {weight: 1.0e-320}", /^resources\.weight must be 0 or at least 0\.001/],
  ["resources: {weight: 1.0e+308}", /^resources\.weight must be at most 1000/],
  ["resources: {time_limit: 0}", "resources.time_limit must be greater than 0, not 0"],
  ["resources: {time_limit: 0h}", "resources.time_limit must be greater than 0"],
  ["resources: {time_limit: 2 hours}", /^resources\.time_limit must be a time: /],
  ["preemption_timeout: -1", "preemption_timeout must be at least 0, not -1"],
  ["preemption_timeout: 4294967295", /^preemption_timeout must be at most 24 hours/],
  ["preemption_timeout: 25h", /^preemption_timeout must be at most 24 hours/],
  ["preemption_timeout: soon", /^preemption_timeout must be a time: /],
  [
    "resources: {constraints: {device: tpu}}",
    /^resources\.constraints\.device must be one of "cpu", "cuda", "rocm"/,
  ],
  [
    "resources: {constraints: {device_memory: much}}",
    /^resources\.constraints\.device_memory must be a memory size/,
  ],
  [
    "resources: {constraints: {device_memroy: 1}}",
    'resources.constraints.device_memroy is not a known key; "device_memory" is',
  ],
  [
    "resources: {constraints: {require: {zone: false}}}",
    /^resources\.constraints\.require\.zone must be a label's value, a list of values, or true/,
  ],
  [
    "resources: {constraints: {forbid: {zone: []}}}",
    "resources.constraints.forbid.zone must be a list of at least 1 item",
  ],
  [
    "resources: {constraints: {require: [zone]}}",
    "resources.constraints.require must be a mapping, not a list",
  ],
  [
    "resources: {constraints: {require: {a b: c}}}",
    /^resources\.constraints\.require\["a b"\] is not a label: up to 63 letters/,
  ],
  [
    "resources: {constraints: {same_label: ''}}",
    /^resources\.constraints\.same_label must be a label: up to 63 letters/,
  ],
  ["resources: {shm_size: 1.gb}", /^resources\.shm_size must be a memory size/],
  ["max_restarts: -1", "max_restarts must be at least 0, not -1"],
  [
    "checkpoint_storage: {type: directory, container_path: here}",
    "checkpoint_storage.container_path must be an absolute path, one that begins with /",
  ],
  ["checkpoint_storage: {type: shared_fs}", /^checkpoint_storage\.host_path is missing/],
  [
    "checkpoint_storage: {type: shared_fs, host_path: /a, storage_path: ../b}",
    /^checkpoint_storage\.storage_path must be a relative folder that stays below host_path/,
  ],
  [
    "checkpoint_storage: {type: shared_fs, host_path: /tmp, storage_path: /tmp/x/../../y}",
    /^checkpoint_storage\.storage_path must be/,
  ],
  [
    "checkpoint_storage: {type: azure, container: c, account_url: 'https://a'}",
    "checkpoint_storage.type is azure, to which this version does not write checkpoints; directory, shared_fs, s3, gcs work",
  ],
  [
    "checkpoint_storage: {type: s3, bucket: b, endpoint_url: 'https://key:secret@store'}",
    "checkpoint_storage.endpoint_url must be an address that begins with http:// or https://, without credentials",
  ],
  [
    "checkpoint_storage: {type: hdfs}",
    'checkpoint_storage.type must be one of directory, shared_fs, s3, gcs, not "hdfs"',
  ],
  [
    "checkpoint_storage: {save_trial_best: -1}",
    "checkpoint_storage.save_trial_best must be at least 0, not -1",
  ],
  [
    "environment: {environment_variables: [A]}",
    "environment.environment_variables[0] must have the form NAME=value",
  ],
  [
    "environment: {environment_variables: {cuda: [B=1, =2]}}",
    "environment.environment_variables.cuda[1] must have the form NAME=value",
  ],
  [
    "environment: {environment_variables: [TRAINYARD_TOKEN=x]}",
    /^environment\.environment_variables\[0\] must not begin with TRAINYARD_/,
  ],
  [
    "environment: {environment_variables: {tpu: []}}",
    'environment.environment_variables.tpu is not a known key; "cpu" is',
  ],
  [
    "reproducibility: {experiment_seed: -1}",
    "reproducibility.experiment_seed must be at least 0, not -1",
  ],
  [
    "reproducibility: {experiment_seed: 4294967296}",
    "reproducibility.experiment_seed must be at most 4294967295, not 4294967296",
  ],
  [
    "bind_mounts: [{host_path: a, container_path: /b}]",
    /^bind_mounts\[0\]\.host_path must be an absolute path/,
  ],
  [
    "min_validation_period: {batches: 1, epochs: 1}",
    /^min_validation_period must be a mapping with one key, batches, records or epochs/,
  ],
  ["log_policies: [{}]", "log_policies[0].name is missing"],
  [
    "log_policies: [{name: a, action: explode}]",
    /^log_policies\[0\]\.action must be one of "cancel_retries", "exclude_node"/,
  ],
  [
    "profiling: {begin_on_batch: 9, end_after_batch: 1}",
    /^profiling\.begin_on_batch must not be greater than end_after_batch/,
  ],
  ['name: "a\\u0000"', "name contains the character \\u0000, which cannot be stored"],
];

describe("parseExperiment refuses", () => {
  it.each(wrong)("%s", (more, problem) => {
    const found = problems(yaml(more));
    expect(found).toHaveLength(1);
    if (typeof problem === "string") expect(found[0]).toBe(problem);
    else expect(found[0]).toMatch(problem);
  });

  it.each(["entrypoint", "searcher"])("a document without %s", (key) => {
    expect(problems(yaml("", [key]))).toEqual([expect.stringMatching(`^${key} is missing`)]);
  });

  it("a type that is a mapping with keys named like methods", () => {
    const text = yaml("checkpoint_storage: {type: {toString: 1, valueOf: 1}}");
    expect(problems(text)).toEqual([
      "checkpoint_storage.type must be one of directory, shared_fs, s3, gcs, not a mapping",
    ]);
  });

  it.each(["s3", "gcs"])("a prefix that climbs out by .. in %s", (type) => {
    const text = yaml(`checkpoint_storage: {type: ${type}, bucket: b, prefix: a/../b}`);
    expect(problems(text)).toEqual(['checkpoint_storage.prefix must not contain ".." as a folder']);
  });

  it("a Google key in the configuration, without quoting its value", () => {
    const found = problems(yaml("checkpoint_storage: {type: gcs, bucket: b, private_key: hidden}"));
    expect(found).toEqual(["checkpoint_storage.private_key is not a known key"]);
  });

  it("credentials of an object store, without quoting their value", () => {
    const text = yaml(
      "checkpoint_storage: {type: s3, bucket: b, access_key: hidden1, secret_key: hidden2}",
    );
    const found = problems(text);
    expect(found).toEqual([
      expect.stringMatching(
        /^checkpoint_storage\.access_key does not belong into a configuration: the platform reads credentials of object stores from its own environment, the role of its instance, or a file of mode 0600$/,
      ),
      expect.stringMatching(/^checkpoint_storage\.secret_key does not belong/),
    ]);
    expect(found.join()).not.toContain("hidden");
  });

  it("a document without checkpoint_storage if the cluster has no default", () => {
    expect(problems(yaml(), {})).toEqual([expect.stringMatching(/^checkpoint_storage is missing/)]);
  });

  it.each(["", "[]", "text", "null"])("a document that is no mapping: %j", (text) => {
    expect(problems(text)).toEqual([expect.stringMatching(/it must be a mapping/)]);
  });

  it("all problems at once, each with its path", () => {
    const text = yaml("nmae: x\nmax_restarts: -1\nresources: {priority: 0, weigth: 1}", [
      "entrypoint",
    ]);
    const paths = problems(text).map((problem) => problem.split(" ")[0]);
    expect(paths.sort()).toEqual([
      "entrypoint",
      "max_restarts",
      "nmae",
      "resources.priority",
      "resources.weigth",
    ]);
  });

  it("a thousand problems by reporting the first fifty and the number of further ones", () => {
    const text = Array.from({ length: 1_000 }, (_, i) => `key${i}: 1`).join("\n");
    const result = parseExperiment(yaml(text), { defaults });
    if (!isRejection(result)) throw new Error("accepted");
    expect(result.problems).toHaveLength(50);
    expect(result.detail).toMatch(/and 950 more$/);
  });

  it("a document that is too large after the expansion of its aliases", () => {
    const aliases = Array.from({ length: 40 }, (_, i) => `k${i}: *x`).join(", ");
    const text = yaml(`data: {x: &x ${"y".repeat(4_000)}, ${aliases}}`);
    expect(text.length).toBeLessThan(limits.configBytesMax);
    expect(problems(text)).toEqual([
      expect.stringMatching(/bytes long with defaults and aliases written out/),
    ]);
  });
});
