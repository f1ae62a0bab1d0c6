/** Tests of each part's rules; Determined's cases are in test/compat/determined. */
import { describe, expect, it } from "vitest";
import type { Json } from "../json.ts";
import { type ConfigPart, configPart } from "./named.ts";

function part(name: string): ConfigPart {
  const found = configPart(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

const told = (problems: ReturnType<ConfigPart["sanity"]>): string[] =>
  problems.map(({ path, detail }) => `${path} ${detail}`.trim());

describe("a part as written is refused", () => {
  const wrong: readonly (readonly [part: string, value: Json, problem: RegExp])[] = [
    ["device", { container_path: "/a" }, /^host_path is missing|^must be/],
    ["devices", ["/a"], /^\[0\] must be a mapping of host_path/],
    ["bind-mount", { host_path: "/a" }, /^container_path is missing/],
    ["proxy-port", { proxy_tcp: true }, /^proxy_port is missing/],
    ["data-layer", { type: "s3", bucket: "b" }, /^bucket_directory_path is missing/],
    ["data-layer", { type: "shared_fs", host_storage_path: "a" }, /^host_storage_path must be an/],
    [
      "data-layer",
      { type: "gcs", bucket: "b", bucket_directory_path: "d", local_cache_host_path: "/a" },
      /^local_cache_container_path is missing: local_cache_host_path has no effect without it/,
    ],
    ["checkpoint-storage", { save_trial_best: -1 }, /^save_trial_best must be at least 0/],
    ["checkpoint-storage", { bukcet: "b" }, /^bukcet is not a known key; "bucket" is/],
    ["checkpoint-storage", { type: "gcs", host_path: "/a" }, /^host_path is not a known key/],
    [
      "checkpoint-storage",
      { type: "azure", container: "c", connection_string: "a", credential: "b" },
      /^credential must not be given beside connection_string/,
    ],
    ["searcher", { smaller_is_better: 1 }, /^smaller_is_better must be true or false/],
    [
      "searcher",
      { name: "single", max_length: { batches: 0 } },
      /^max_length\.batches must be at least 1/,
    ],
    ["optimizations", { mixed_precision: "O4" }, /^mixed_precision must be one of "O0"/],
    ["hpc-cluster-pbs", { slots_per_node: 0 }, /^slots_per_node must be at least 1/],
    ["hyperparameter-const", { type: "const" }, /^val is missing: it is the constant/],
    ["hyperparameter", [1, { type: "int", minval: 1 }], /^\[1\]\.maxval is missing/],
    ["hyperparameter", { a: [{ type: "int", minval: 2, maxval: 1 }] }, /^a\[0\]\.minval must be/],
    ["environment", { pod_spec: { name: "x" } }, /^pod_spec\.name is not configurable/],
    [
      "environment",
      { pod_spec: { spec: { containers: [{ name: "determined-container", envFrom: [] }] } } },
      /^pod_spec\.spec\.containers\[0\]\.envFrom is not configurable/,
    ],
  ];

  it.each(wrong)("%s %j", (name, value, problem) => {
    const problems = told(part(name).sanity(value));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it("not because of a null, which means absent", () => {
    const value = { type: null, save_trial_best: null, host_path: null };
    expect(part("checkpoint-storage").sanity(value)).toEqual([]);
    expect(
      part("hyperparameter").sanity({ type: "int", minval: 1, maxval: 2, count: null }),
    ).toEqual([]);
  });
});

describe("a completed part lacks", () => {
  it.each([
    ["checkpoint-storage", {}, ["type"]],
    ["shared-fs", { type: "shared_fs" }, ["host_path"]],
    ["directory", { type: "directory" }, ["container_path"]],
    ["s3", { type: "s3" }, ["bucket"]],
    ["searcher", {}, ["name", "metric"]],
    ["searcher-random", { name: "random" }, ["metric", "max_trials"]],
    ["searcher-sync-halving", { name: "sync_halving", metric: "a" }, ["num_rungs", "budget"]],
    ["reproducibility", {}, ["experiment_seed"]],
    ["security", { kerberos: {} }, ["kerberos.config_file"]],
  ])("%s %j", (name, value, paths) => {
    expect(part(name).sanity(value)).toEqual([]);
    expect(
      part(name)
        .completeness(value)
        .map(({ path }) => path),
    ).toEqual(paths);
  });

  it("nothing in a whole experiment once its defaults are filled in", () => {
    const lacking = part("experiment").completeness({ entrypoint: "true" });
    expect(lacking.map(({ path }) => path)).toEqual([
      "name",
      "hyperparameters",
      "reproducibility",
      "searcher",
      "checkpoint_storage",
    ]);
    const whole = part("experiment").withDefaults(
      {
        searcher: { name: "single", metric: "loss" },
        checkpoint_storage: { type: "directory", container_path: "/c" },
      },
      7,
    );
    expect(part("experiment").completeness(whole)).toEqual([]);
    expect(whole).toMatchObject({
      checkpoint_policy: "best",
      min_validation_period: { batches: 0 },
      optimizations: { aggregation_frequency: 1, mixed_precision: "O0" },
      profiling: { enabled: false, sync_timings: true },
      reproducibility: { experiment_seed: 7 },
      log_policies: [{ name: "CUDA OOM" }, { name: "ECC Error" }],
    });
  });
});

describe("older shapes", () => {
  it.each([
    ["device", "/h:/c:r", { host_path: "/h", container_path: "/c", mode: "r" }],
    ["environment-image", "x", { cpu: "x", cuda: "x", rocm: "x" }],
    ["environment-variables", { gpu: ["A=1"] }, { cpu: [], cuda: ["A=1"], rocm: [] }],
    ["log-action", { type: "exclude_node" }, "exclude_node"],
    ["hyperparameter", { a: [1] }, { a: { type: "const", val: [1] } }],
  ])("of %s are rewritten: %j", (name, value, today) => {
    expect(part(name).withDefaults(value, 0)).toEqual(today);
  });

  it("are rewritten to the latest ones by a merge", () => {
    const merged = part("experiment").merge(
      { labels: { b: true }, resources: { devices: ["/x:/c"] } },
      {
        labels: ["a"],
        resources: { devices: [{ host_path: "/y", container_path: "/c" }, "/z:/z"] },
      },
    );
    expect(merged).toEqual({
      labels: ["a", "b"],
      resources: {
        devices: [
          { host_path: "/x", container_path: "/c" },
          { host_path: "/z", container_path: "/z" },
        ],
      },
    });
  });
});

describe("merging one value over another", () => {
  it.each([
    ["bind-mounts", null, [{ host_path: "/h", container_path: "/c" }], "theirs"],
    ["bind-mounts", [{ host_path: "/h", container_path: "/c" }], null, "mine"],
    ["environment", { ports: { a: 1 } }, null, "mine"],
  ])("keeps the only value that is given: %s", (name, mine, theirs, which) => {
    expect(part(name).merge(mine, theirs)).toEqual(which === "mine" ? mine : theirs);
  });

  it("appends variables, the user's last", () => {
    expect(part("environment-variables").merge(["A=1"], { gpu: ["A=2"], cpu: ["B=1"] })).toEqual({
      cpu: ["B=1", "A=1"],
      cuda: ["A=2", "A=1"],
      rocm: ["A=1"],
    });
  });

  it("treats a constant null as a value, not as absent", () => {
    const mine = { a: { type: "const", val: null }, b: null };
    const theirs = { a: 1, b: { c: 1 }, d: 2 };
    expect(part("hyperparameters").merge(mine, theirs)).toEqual({
      a: { type: "const", val: null },
      b: { type: "const", val: null },
      d: { type: "const", val: 2 },
    });
  });

  it("uses the defaults when no value is given", () => {
    expect(part("profiling").withDefaults(null, 0)).toEqual(part("profiling").withDefaults({}, 0));
    expect(part("log-policies").withDefaults(null, 0)).toMatchObject([
      { name: "CUDA OOM" },
      { name: "ECC Error" },
    ]);
  });
});

describe("merging a pod over another", () => {
  const merge = (mine: Json, theirs: Json): Json =>
    part("environment").merge({ pod_spec: mine }, { pod_spec: theirs });
  const pod = (spec: Json): Json => ({ pod_spec: { spec } });

  it("merges mappings key by key, and containers and volumes by name", () => {
    const mine = { spec: { containers: [{ name: "b", a: 1 }, { name: "new" }], priority: 2 } };
    const theirs = {
      spec: { containers: [{ name: "a" }, { name: "b", a: 2, c: 3 }, { name: "c" }], x: 1 },
    };
    expect(merge(mine, theirs)).toEqual(
      pod({
        containers: [{ name: "a" }, { name: "b", a: 1, c: 3 }, { name: "c" }, { name: "new" }],
        priority: 2,
        x: 1,
      }),
    );
  });

  it("replaces a list whose items have no name", () => {
    expect(merge({ spec: { tolerations: [{ key: "a" }] } }, { spec: { tolerations: [] } })).toEqual(
      pod({ tolerations: [{ key: "a" }] }),
    );
  });
});
