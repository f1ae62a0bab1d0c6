import { hasKcat, hasRedis } from "@trainyard/testing";
import { afterAll, expect, test } from "vitest";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { imagesProblem } from "../images/built.ts";
import { findChromium } from "../browser/support/chromium.ts";
import { curvesFolder } from "./search/tables.ts";
import { type BenchName, benches, isBenchName } from "./benches.ts";
import { needNotebooks } from "./notebook/notebooks.ts";
import type { BenchResult } from "./support/bench.ts";
import { EmbeddedCluster } from "./support/embedded-cluster.ts";
import { MachineWatch } from "./support/machine.ts";
import { median, percentile } from "./support/measure.ts";
import { reportOf, tableOf } from "./support/report.ts";

// The timeout only stops a bench that hangs; its speed is in its report.
const slowMs = 600_000;

/** The ids are part of the command's interface, because figures over time are compared by them. */
const ids: Readonly<Record<BenchName, readonly string[]>> = {
  "event-log": [
    "command_64callers_vs_raw",
    "command_vs_emmett",
    "append_batch100_w8",
    "ten_processes_2ms_commit",
    "append_hot_streams_under_snapshot",
    "stream_read_100_partitions",
  ],
  metrics: [
    "live_p99_ms",
    "live_p99_ms_20k",
    "ingest_http_vs_parse",
    "ingest_vs_jsonb_row",
    "ingest_grpc_vs_http",
    "bytes_vs_narrow",
    "series_1m_vs_narrow",
    "compare_100x100k_ms",
  ],
  gateway: [
    "api_list_100k_ms",
    "list_table_scans",
    "list_flatness_1k_100k",
    "rest_vs_fastify",
    "grpc_vs_echo",
    "list_with_grants_vs_without",
    "search_picture_1000_trials_ms",
    "watch_cost_per_frame",
    "watch_with_grants_vs_without",
    "fold_queued_runs_flatness_1k_100k",
    "trial_list_heavy",
    "signin_vs_bare_argon2",
    "followers_1000",
    ...(hasRedis() ? ["series_shared_vs_alone"] : []),
  ],
  delivery: [
    "chain_saturated",
    "chain_single_commands",
    "latency_2000_vs_direct",
    "latency_2000_p99",
    "chain_traced",
  ],
  feeds: [
    ...(hasKcat() ? ["kafka_vs_kafkajs"] : []),
    "feeds_p99_ms",
    "cost_per_delivery_flatness",
    "filtered_replay_flatness",
  ],
  web: [
    "bundle_gzip_kb",
    ...(findChromium().program === null
      ? []
      : [
          "first_rows_ms",
          "chart_pan_vs_uplot",
          "compare_pan_vs_uplot",
          "compare_100_open_ms",
          "log_burst_longtasks",
          "heap_hour",
        ]),
  ],
  replay: ["rehydrate_32_vs_select", "rehydrate_32_16callers"],
  rebuild: ["rebuild_1m", "flatness"],
  submit: ["submit_extra_ms", "submit_first_line_vs_direct"],
  scheduling: [
    "place_10000_agents_vs_scan",
    ...[100, 1_000, 10_000].flatMap((agents) => [
      `decision_p50_${agents}`,
      `decision_p99_${agents}`,
    ]),
    "flatness",
    ...[100, 1_000, 10_000].map((agents) => `beat_cpu_${agents}`),
    ...[
      "priority",
      "priority_backfill_any",
      "priority_no_backfill",
      "priority_preemption",
      "priority_spread",
      "fair_share",
      "fair_share_preemption",
      "round_robin",
      "determined_priority",
      "determined_fair_share",
    ].map((policy) => `utilisation_${policy}`),
    "memory_per_agent",
    "memory_per_waiting_run",
    "place_durable",
    "noop_tasks_vs_slurm",
    "first_output_vs_slurm",
  ],
  search: [
    "asha_fold_flatness",
    "median_fold_flatness",
    "no_improvement_fold_flatness",
    "decide_durable_vs_raw",
    "decide_durable_p50",
    "decide_durable_p99",
    "open_5000x20_ms",
    "open_5000x20_snapshot_ms",
    "tpe_vs_optuna_median",
    "gp_vs_optuna_median",
    // The tables are not in the repository.
    ...(curvesFolder() === undefined ? [] : ["tpe_tables_vs_optuna_median"]),
    "auto_vs_random_asha",
    "auto_vs_random_asha_worst",
    "bohb_vs_random_continuous",
    "pbt_toy_worst_seed",
    "gp_async_hartmann6_50",
    "gp_async_hartmann6_100",
    "gp_async_ackley5_100",
    "tpe_suggest_1000_vs_optuna",
    "gp_suggest_250_vs_optuna",
  ],
  pytorch:
    pythonEnvironment().python === null
      ? []
      : [
          "step_time_vs_plain",
          "tensor_dataset_step_time_vs_plain",
          "ddp_vs_torchrun",
          "checkpoint_stall_ms",
          "first_batch_vs_plain",
        ],
  checkpoints: [
    "gc_100k_flatness",
    "registry_query_100k_flatness",
    "upload_2gb_1file_vs_raw",
    "s3_upload_2gb_vs_boto3",
    "s3_download_2gb_vs_boto3",
    "s3_upload_1000_files_vs_boto3",
    "s3_download_1000_files_vs_boto3",
    "second_upload_1pct_changed",
  ],
  logs: ["ingest_lines_vs_copy", "search_1m_lines_ms", "flood_neighbour_p99_ms"],
  proxy: [
    "idle_websocket_kb",
    "proxy_1gb",
    "proxy_p50",
    "websocket_echo",
    "stream_1gb",
    "stream_p50",
    "api_p99_during_1gb",
  ],
  notebook: ["open_vs_jupyter", "idle_cpu_percent", "save_one_of_1gb_vs_all"],
  images: imagesProblem() === null ? ["mb_over_base", "ready_vs_host", "build_s"] : [],
  boot: ["boot_warm_s", "idle_rss_mb", "yard_start_extra_ms", "trainyard_start_extra_ms"],
};

/** The benchmarks that need a cluster share this one, which the first of them starts. */
const withCluster: readonly BenchName[] = [
  "submit",
  "scheduling",
  "checkpoints",
  "metrics",
  "proxy",
  "notebook",
  "boot",
  "web",
];
const cluster = new EmbeddedCluster({
  ...{ agents: 1, slots: 8, web: true, objectStore: true },
  workSeconds: 0.5,
});

afterAll(() => cluster[Symbol.asyncDispose]());

const names = Object.keys(benches).filter(isBenchName);
// A cluster costs the others processor time, also when it is idle.
const withoutCluster = names.filter((name) => !withCluster.includes(name));

test.for([...withoutCluster, ...withCluster])(
  "%s runs and reports",
  { timeout: slowMs },
  async (name, { skip }) => {
    if (name === "notebook") await needNotebooks(cluster.home, skip);
    const run = await benches[name].load();
    const watch = new MachineWatch();
    const results = await run({ size: "tiny", wants: () => true, say: () => {}, watch, cluster });
    const report: unknown = JSON.parse(JSON.stringify(reportOf(name, watch.machine(), results)));
    const orNull = (kind: unknown): unknown =>
      expect.toSatisfy((value) => value === null || typeof value === kind);
    expect(report).toEqual({
      name,
      machine: {
        cpus: expect.any(Number),
        cpuModel: expect.any(String),
        memoryGiB: expect.any(Number),
        node: process.version,
        othersCpu: orNull("number"),
      },
      results: ids[name].map((id) => ({
        id,
        value: expect.any(Number),
        unit: expect.any(String),
        baseline: orNull("number"),
        ratio: orNull("number"),
        floor: orNull("number"),
        goal: orNull("number"),
        note: expect.any(String),
      })),
    });
  },
);

test("a table marks results below their floor and results that reached their goal", () => {
  const result = (id: string, ratio: number | null): BenchResult => ({
    id,
    value: 10,
    unit: "things/s",
    baseline: ratio === null ? null : 10 / ratio,
    ratio,
    floor: 0.5,
    goal: 1,
    note: "",
  });
  const machine = { cpus: 2, cpuModel: "x", memoryGiB: 1, node: "v24", othersCpu: 0.25 };
  const results = [result("low", 0.4), result("fair", 0.7), result("good", 1), result("own", null)];
  const lines = tableOf(reportOf("event-log", machine, results)).split("\n");
  expect(lines[0]).toContain("others took 25 % of the CPU");
  expect(lines.slice(2, 6)).toEqual([
    expect.stringMatching(/^low .*below the floor$/),
    expect.not.stringMatching(/below|reached/),
    expect.stringMatching(/^good .*goal reached$/),
    expect.not.stringMatching(/below|reached/),
  ]);
});

test("median and percentile of a list are computed", () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
  expect(percentile([1], 0.99)).toBe(1);
});
