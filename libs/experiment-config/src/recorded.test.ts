/**
 * Tests of the reader of recorded configurations, which accepts any value and loads no parser and no schema library.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { documentKeys } from "./experiment.ts";
import type { NormalisedConfig } from "./config.ts";
import type { HyperparameterSpace } from "./hyperparameters/hyperparameters.ts";
import { isTyped } from "./hyperparameters/space.ts";
import { isMapping, type Json, type JsonObject } from "./json.ts";
import { recordedConfig } from "./recorded.ts";
import { resubmitted } from "./resubmitted.ts";
import { type SearcherName, searcherNames } from "./searcher/searcher.ts";
import { config, parsed } from "./testing/documents.ts";

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
  "require",
  "device_memory",
  "max_slots",
  "time_limit",
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

/**
 * A configuration as an event returns it: a copy with JSON's values only. JSON.parse is not used: V8 13.6 reads the key
 * "\n" or "\"" as "\\" after it has parsed an object that has the key "\\" in its place.
 */
function recorded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => recorded(item ?? null));
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value;
  const carried = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(carried.map(([key, item]) => [key, recorded(item)]));
}

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
function normalisedOf(name: SearcherName): NormalisedConfig {
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
    resources: {
      slots_per_trial: 2,
      max_slots: 8,
      weight: 2,
      time_limit: "2h",
      is_single_node: true,
      constraints: {
        device: "cuda",
        device_memory: "80GB",
        require: { zone: "a", rack: [1, "r2"] },
        prefer: { fast: true },
        forbid: { spot: true },
        exclude_agents: ["gpu-1"],
        same_label: "rack",
      },
    },
    preemption_timeout: "5m",
    profiling: { enabled: true, end_after_batch: 100 },
    checkpoint_storage: { type: "shared_fs", host_path: "/data", propagation: "rshared" },
    tensorboard_storage: { type: "shared_fs", host_path: "/boards", propagation: "rshared" },
    bind_mounts: [{ host_path: "/a", container_path: "/b" }],
    data: { path: null },
  };
  return parsed(JSON.stringify(document)).config;
}

/** Lists the paths of every value inside a value. */
function waysIn(value: unknown, way: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [way];
  return [way, ...Object.entries(value).flatMap(([key, item]) => waysIn(item, [...way, key]))];
}

/** Returns a copy of the value with another value at one path; undefined removes the key. */
function replaced(value: unknown, [key, ...way]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([one, item]) =>
    one === key ? [one, replaced(item, way, other)] : [one, item],
  );
  const kept = entries.filter(([, item]) => item !== undefined);
  return Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept);
}

/** Keys that may be absent, and keys without effect, which stay unchanged. */
const optional =
  /\.(warm_start\.\w+|tensorboard_storage|max_time|time_metric|constraints|warm_start|objectives|profiling|enabled)$/;
const unread =
  /\.(data|image|ports|bind_mounts|propagation|end_after_batch|source_trial_id|max_length|unit)$/;

/** Lists the paths where the value's type differs from the sample's. */
function otherTypes(value: unknown, sample: unknown, path = ""): readonly string[] {
  if (unread.test(path) || (value === undefined && optional.test(path))) return [];
  if (Array.isArray(sample)) {
    if (!Array.isArray(value)) return [path];
    const [first] = sample as readonly unknown[];
    return first === undefined ? [] : value.flatMap((item) => otherTypes(item, first, `${path}[]`));
  }
  if (value === null && /\.(max_slots|time_limit)$/.test(path)) return [];
  if (sample === null) return value === null || typeof value === "number" ? [] : [path];
  if (!isMapping(sample)) return typeof value === typeof sample ? [] : [path];
  if (!isMapping(value)) return [path];
  // Rules may name arbitrary labels.
  if (/constraints\.(require|prefer|forbid)$/.test(path)) {
    const values = Object.values(value);
    return values.every((all) => Array.isArray(all) && all.every((one) => typeof one === "string"))
      ? []
      : [path];
  }
  // Points and segments may name the hyperparameters of any space.
  if (/(points\[\]|schedule\[\]\.hyperparameters)$/.test(path)) return [];
  return Object.entries(sample).flatMap(([key, item]) =>
    otherTypes(value[key], item, `${path}.${key}`),
  );
}

function wrongHyperparameters(space: HyperparameterSpace): readonly string[] {
  return Object.entries(space).flatMap(([key, node]) => {
    if (!isTyped(node)) return wrongHyperparameters(node);
    const isRange = node.type === "int" || node.type === "double" || node.type === "log";
    const fine = isRange
      ? typeof node.minval === "number" && typeof node.maxval === "number"
      : node.type === "const" || Array.isArray(node.vals);
    return fine ? [] : [key];
  });
}

describe("a recorded configuration that is submitted again", () => {
  it.each(searcherNames)("becomes the same configuration again, with %s", (name) => {
    const once = recorded(normalisedOf(name)) as JsonObject;
    expect(parsed(JSON.stringify(resubmitted(once))).config).toEqual(once);
    const struct = recorded(recordedConfig(once)) as JsonObject;
    expect(parsed(JSON.stringify(resubmitted(struct))).config).toEqual(once);
  });
});

describe("recordedConfig", () => {
  it("returns a configuration for every JSON value", () => {
    fc.assert(
      fc.property(struct, (value) => {
        const read = recordedConfig(recorded(value));
        expect(typeof read.searcher.metric).toBe("string");
        expect(Number.isInteger(read.resources.slots_per_trial)).toBe(true);
        expect(typeof read.checkpoint_storage.save_trial_best).toBe("number");
        // The result is read back unchanged, so no value in it has a wrong type.
        expect(recordedConfig(recorded(read))).toEqual(read);
      }),
      { numRuns: 500 },
    );
  });

  it.each(searcherNames)("returns each key of %s with its type for every record", (name) => {
    const normalised = normalisedOf(name);
    const damage = fc.tuple(
      fc.constantFrom(...waysIn(normalised)),
      fc.oneof(json, fc.constantFrom(undefined, null, -1, 0.5, "text", true, [null], {})),
    );
    const kinds = /^(searcher\.name|(checkpoint|tensorboard)_storage\.type)$/;
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (all) => {
        // An unknown name is kept, and then the types of its keys are unknown; the tests below cover this.
        fc.pre(
          all.every(
            ([way]) =>
              !["searcher", "checkpoint_storage", "tensorboard_storage", ""].includes(
                way.join("."),
              ),
          ),
        );
        fc.pre(all.every(([way]) => !kinds.test(way.join("."))));
        const damaged = all.reduce<unknown>(
          (value, [way, other]) => replaced(value, way, other),
          recorded(normalised),
        );
        const { hyperparameters, entrypoint, early_stopping, reproducibility, ...read } =
          recordedConfig(damaged);
        const {
          hyperparameters: _,
          entrypoint: __,
          early_stopping: ___,
          reproducibility: ____,
          ...sample
        } = normalised;
        expect(otherTypes(read, sample)).toEqual([]);
        expect(wrongHyperparameters(hyperparameters)).toEqual([]);
        expect([entrypoint].flat().every((word) => typeof word === "string")).toBe(true);
        expect(["number", "object"]).toContain(typeof reproducibility.experiment_seed);
        for (const policy of early_stopping) {
          if ("name" in policy && policy.name === "budget") {
            expect(["number", "object"]).toContain(typeof policy.max_wall_time);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it.each(searcherNames)("returns a normalised configuration of %s unchanged", (name) => {
    const normalised = normalisedOf(name);
    expect(recordedConfig(recorded(normalised))).toEqual(normalised);
  });

  it("uses the document's defaults for keys that were not recorded", () => {
    const { entrypoint: _entrypoint, checkpoint_storage, searcher, ...byDefault } = config();
    expect(recordedConfig({})).toEqual({
      ...byDefault,
      entrypoint: "",
      checkpoint_storage: { ...checkpoint_storage, container_path: "" },
      searcher: { ...searcher, name: "", metric: "" },
    });
  });

  it("keeps the name of a searcher that this version does not know", () => {
    const { searcher } = recordedConfig({ searcher: { name: "tomorrow's", metric: "loss", k: 1 } });
    expect(searcher).toEqual({
      name: "tomorrow's",
      metric: "loss",
      smaller_is_better: true,
      k: 1,
    });
  });

  it("keeps the kind of a storage that this version does not know", () => {
    const storage = { type: "s3", bucket: "b", save_trial_best: 4 };
    expect(recordedConfig({ checkpoint_storage: storage }).checkpoint_storage).toEqual({
      ...storage,
      save_experiment_best: 0,
      save_trial_latest: 1,
    });
  });

  it("leaves out a policy that this version does not know, and each combination with one", () => {
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
