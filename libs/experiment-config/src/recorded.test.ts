/** A recorded configuration is read by one total function, which loads no parser and no schema library. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentKeys } from "./experiment.ts";
import type { Json, JsonObject } from "./json.ts";
import { recordedConfig } from "./recorded.ts";
import { type SearcherName, searcherNames } from "./searcher/searcher.ts";
import { config, parsed } from "./test-documents.ts";

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const keysInside = [
  "name",
  "metric",
  "type",
  "max_trials",
  "max_time",
  "constraints",
  "warm_start",
  "objectives",
  "schedule",
  "any",
  "all",
  "experiment_seed",
  "environment_variables",
  "enabled",
  "__proto__",
];
const names = [...searcherNames, "budget", "percentile", "not_finite", "shared_fs", "log", "int"];
const section = fc.oneof(
  json,
  fc.dictionary(fc.constantFrom(...keysInside), fc.oneof(json, fc.constantFrom(...names))),
);
const struct = fc.oneof(
  json,
  fc.dictionary(
    fc.constantFrom(...documentKeys),
    fc.oneof(section, fc.array(section, { maxLength: 3 })),
  ),
);

/** A configuration as it comes out of an event. */
const recorded = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("recordedConfig", () => {
  it("gives a configuration for every JSON value", () => {
    fc.assert(
      fc.property(struct, (value) => {
        const read = recordedConfig(recorded(value));
        expect(typeof read.searcher.metric).toBe("string");
        expect(Number.isInteger(read.resources.slots_per_trial)).toBe(true);
        expect(["directory", "shared_fs"]).toContain(read.checkpoint_storage.type);
        // What it gave, recorded, is read the same: nothing in it is of a wrong type.
        expect(recordedConfig(recorded(read))).toEqual(read);
      }),
      { numRuns: 500 },
    );
  });

  const searchers: Readonly<Record<SearcherName, JsonObject>> = {
    single: { max_time: 7 },
    random: { max_trials: 5, constraints: "a < 3", warm_start: { points: [{ a: 1 }] } },
    grid: { max_concurrent_trials: 2, source_trial_id: 4 },
    sobol: { max_trials: 3, warm_start: { experiments: [1], max_trials: 9 } },
    tpe: { max_trials: 3, objectives: [{ metric: "loss" }, { metric: "size" }], max_time: 9 },
    gp: { max_trials: 3, time_metric: "epochs" },
    asha: { max_trials: 3, max_time: 100 },
    bohb: { max_trials: 3, max_time: 100, resume: false },
    auto: { max_trials: 3, max_time: 100, min_time: 2 },
    adaptive_asha: { max_trials: 3, max_length: { epochs: 9 }, mode: "aggressive" },
    async_halving: { max_trials: 3, max_time: 9, time_metric: "e", num_rungs: 2, stop_once: true },
    hyperband: { max_time: 81 },
    pbt: { max_time: 100, mutate: ["a"], exploit: "tournament" },
    schedule: { schedule: [{ until: 5, hyperparameters: { a: 2, nest: { lr: 0.1 } } }] },
    custom: { max_time: 9, unit: "batches" },
  };
  it.each(searcherNames)("gives a normalised configuration of %s back as it was", (name) => {
    const document = {
      entrypoint: ["python3", "train.py"],
      labels: { b: true, a: true },
      hyperparameters: {
        a: { type: "int", minval: 0, maxval: 4, count: 2 },
        nest: {
          type: "nested",
          when: { a: [1, 2] },
          hyperparameters: { lr: { type: "log", base: 10, minval: -3, maxval: 0, count: 2 } },
        },
        list: [1, { b: 2, a: 1 }],
      },
      searcher: { name, metric: "loss", ...searchers[name] },
      early_stopping: [
        { any: [{ name: "median" }, { name: "no_improvement", patience: 3 }] },
        { name: "budget", max_wall_time: "2h" },
      ],
      environment: { environment_variables: ["A=1", "A=2"], image: "some", ports: { web: 80 } },
      resources: { slots_per_trial: 2, max_slots: 8 },
      profiling: { enabled: true, end_after_batch: 100 },
      checkpoint_storage: { type: "shared_fs", host_path: "/data", propagation: "rshared" },
      bind_mounts: [{ host_path: "/a", container_path: "/b" }],
      data: { path: null },
    };
    const normalised = parsed(JSON.stringify(document)).config;
    expect(recordedConfig(recorded(normalised))).toEqual(normalised);
  });

  it("takes the defaults of a document for what was not recorded", () => {
    const { entrypoint, checkpoint_storage, searcher, ...byDefault } = config();
    expect(recordedConfig({})).toEqual({
      ...byDefault,
      entrypoint: "",
      checkpoint_storage: { ...checkpoint_storage, container_path: "" },
      searcher: { ...searcher, name: "", metric: "" },
    });
  });

  it("keeps the name of a searcher that this version does not have", () => {
    const { searcher } = recordedConfig({ searcher: { name: "tomorrow's", metric: "loss", k: 1 } });
    expect(searcher).toEqual({
      name: "tomorrow's",
      metric: "loss",
      smaller_is_better: true,
      k: 1,
    });
  });

  it("leaves out a policy that this version does not have, and each combination with one", () => {
    const known = { name: "not_finite" };
    const unknown = { name: "tomorrow's" };
    const { early_stopping } = recordedConfig({
      early_stopping: [known, unknown, { all: [known, unknown] }, { any: [known] }, "text"],
    });
    expect(early_stopping).toEqual([known, { any: [known] }]);
  });

  it("loads neither the YAML parser nor the schema library", () => {
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const statement = /^(?:import|export) (?!type\b)[^;]*?from "([^"]+)";/gms;
      for (const [, what = ""] of readFileSync(file, "utf8").matchAll(statement)) {
        if (what.startsWith(".")) visit(join(dirname(file), what));
        else packages.add(what);
      }
    };
    visit(fileURLToPath(new URL("./recorded.ts", import.meta.url)));
    expect(seen.size).toBeGreaterThan(10);
    expect([...packages]).toEqual(["@trainyard/kernel"]);
  });
});
