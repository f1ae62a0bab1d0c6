/** Typical shapes of Determined users' configurations, in documents written for these tests. */
import { describe, expect, it } from "vitest";
import { defaults, parsed, problems } from "./testing/documents.ts";

const accepted = (text: string) => parsed(text, { defaults });

describe("Determined's configurations", () => {
  it("may contain only the keys that a search needs, without a length if the code defines it", () => {
    const { config, warnings } = accepted(`
name: stage 1
entrypoint: python3 1_metrics.py --epochs 2

# One run of the script.
searcher:
   name: single
   # Nothing compares it.
   metric: x

max_restarts: 0
`);
    expect(config).toMatchObject({ max_restarts: 0, hyperparameters: {} });
    expect(warnings).toEqual([]);
  });

  it("may search adaptively by a custom time metric, with fractions that begin with a dot", () => {
    const { config, warnings } = accepted(`
name: tutorial
description: A search.
hyperparameters:
  global_batch_size: 64
  learning_rate: {type: double, minval: .0001, maxval: 1.0}
  decay: 1e-4
  filters: {type: int, minval: 8, maxval: 64}
max_restarts: 0
records_per_epoch:
  60000
searcher: {name: adaptive_asha, metric: loss, smaller_is_better: true, max_trials: 50, time_metric: epochs, max_time: 20}
entrypoint: python3 train.py --epochs 20
`);
    expect(config.searcher).toMatchObject({ time_metric: "epochs", max_time: 20, divisor: 4 });
    expect(config.hyperparameters).toMatchObject({ decay: { type: "const", val: 1e-4 } });
    expect(warnings.map(({ path }) => path)).toEqual(["records_per_epoch"]);
  });

  it("may fold a long entrypoint, name images by device, and have comments between variables", () => {
    const { config } = accepted(`
debug: false
environment:
    environment_variables:
        - A_DEBUG=INFO
        # Adapt this to your network.
        - B_NAME=ens,eth,ib
    image:
        gpu: somewhere/pytorch:1
resources:
  slots_per_trial: 2
  shm_size: 4294967296 # 4 GiB
searcher: {name: single, max_length: {batches: 100}, metric: eval_loss}
hyperparameters:
  config_file: conf/a.json
  training_arguments: {learning_rate: 1e-5}
entrypoint: >-
  python -m launch.torch_distributed
  python train.py
  --do_train
`);
    expect(config.entrypoint).toBe("python -m launch.torch_distributed python train.py --do_train");
    expect(config.environment.environment_variables.cpu).toEqual([
      "A_DEBUG=INFO",
      "B_NAME=ens,eth,ib",
    ]);
  });

  it("may leave the kind of storage to the cluster and set the checkpoint counts", () => {
    const { config } = accepted(`
checkpoint_storage: {save_trial_latest: 5}
searcher: {name: single, metric: PQ, smaller_is_better: false, max_length: {batches: 87960}}
min_validation_period: {batches: 7330}
min_checkpoint_period: {epochs: 1}
entrypoint: python3 -m launch --trial model_hub.x:Trial
`);
    expect(config.checkpoint_storage).toMatchObject({ type: "directory", save_trial_latest: 5 });
  });

  it("may have constants of every kind: null, empty lists and mappings, words such as None", () => {
    const { config } = accepted(`
hyperparameters:
  group: null
  redundant: None
  uuids: []
  kwargs: {}
  names: [a.b, c]
  depths: [2, 2, 6, 2]
  learning_rate: {base: 0.2, warmup_epochs: 10}
  dotted.key: true
searcher: {name: single, metric: x, max_length: 10000000}
profiling: {enabled: true, begin_on_batch: 0, end_after_batch: null, sync_timings: false}
checkpoint_policy: none
scheduling_unit: 57
entrypoint: [python3, -m, launch.deepspeed, --trial, "model_def:SomeTrial"]
optimizations: {aggregation_frequency: 2}
data_layer: {type: shared_fs}
bind_mounts:
  - host_path: /tmp
    container_path: /data
  - host_path: /tmp
    container_path: /data/cache
    read_only: false
environment:
  proxy_ports:
    - proxy_port: 6379
      proxy_tcp: true
`);
    expect(config.hyperparameters).toMatchObject({
      group: { type: "const", val: null },
      redundant: { val: "None" },
      uuids: { val: [] },
      kwargs: {},
      learning_rate: { base: { val: 0.2 }, warmup_epochs: { val: 10 } },
      "dotted.key": { val: true },
    });
  });

  it("may search grids of nested axes, counts, and choices that are mappings", () => {
    const { config } = accepted(`
workspace: Team
project: Some Project
searcher: {name: grid, metric: none, smaller_is_better: false, max_length: 16, max_concurrent_trials: 2}
resources: {slots_per_trial: 1, resource_pool: A100, max_slots: 4}
hyperparameters:
  call:
    scale: {type: double, minval: 5., maxval: 20., count: 4}
    eps: {type: log, base: 10, minval: -2, maxval: -1, count: 2}
    one: {type: categorical, vals: [0.1]}
  task:
    type: categorical
    vals:
      - name: arc
        shots: 25
      - name: sums*
        shots: 5
  max_length: 4096
entrypoint: >-
  python run.py
max_restarts: 0`);
    expect(config.searcher).toMatchObject({ name: "grid", max_concurrent_trials: 2 });
  });
});

describe("the keys of every searcher", () => {
  const all =
    "max_trials: 8, max_concurrent_trials: 2, max_time: 9, time_metric: epochs, divisor: 3";
  it.each<[string, readonly string[]]>([
    ["single", ["max_trials", "divisor", "max_concurrent_trials"]],
    ["random", ["divisor"]],
    ["grid", ["divisor"]],
    ["sobol", ["divisor"]],
    ["tpe", ["divisor"]],
    ["gp", ["divisor"]],
    ["asha", []],
    ["bohb", []],
    ["auto", []],
    ["adaptive_asha", []],
    ["hyperband", []],
    ["pbt", ["divisor"]],
    ["custom", ["divisor"]],
  ])("has an effect in %s, or a warning", (name, unused) => {
    const own = name === "pbt" ? ", population_size: 4" : "";
    const { config, warnings } = accepted(
      `{entrypoint: "true", hyperparameters: {lr: {type: double, minval: 0, maxval: 1, count: 3}}, searcher: {name: ${name}, metric: loss, ${all}${own}}}`,
    );
    expect(warnings.map(({ path }) => path)).toEqual(unused.map((key) => `searcher.${key}`));
    for (const key of unused) expect(config.searcher).not.toHaveProperty(key);
  });
});

describe("the length of older configurations", () => {
  it.each([
    ["{batches: 6400}", "", 6400, "batches"],
    ["{epochs: 4}", "", 4, "epochs"],
    ["10", "", 10, "batches"],
    ["{records: 10}", ", time_metric: samples", 10, "samples"],
  ])("becomes the longest time if none is given: %s%s", (length, more, max_time, time_metric) => {
    const { config, warnings } = accepted(
      `{entrypoint: "true", searcher: {name: adaptive_asha, metric: loss, max_trials: 8, max_length: ${length}${more}}}`,
    );
    expect(config.searcher).toMatchObject({ max_time, time_metric });
    const read = `is read as max_time: ${max_time} and time_metric: ${time_metric}`;
    expect(warnings).toEqual([{ path: "searcher.max_length", detail: read }]);
  });

  it("is ignored beside a longest time, and where it has no effect", () => {
    const { config } = accepted(
      `{entrypoint: "true", searcher: {name: adaptive_asha, metric: loss, max_trials: 8, max_length: {batches: 5}, max_time: 9, time_metric: epochs}}`,
    );
    expect(config.searcher).toMatchObject({ max_time: 9, time_metric: "epochs" });
    const without = "{name: adaptive_asha, metric: loss, max_trials: 8, max_length: 0}";
    expect(problems(`{entrypoint: "true", searcher: ${without}}`)).toEqual([
      expect.stringMatching(/^searcher\.max_time is missing: .*: the most that one trial trains/),
      expect.stringMatching(/^searcher\.time_metric is missing: .*batches or epochs$/),
    ]);
  });
});
