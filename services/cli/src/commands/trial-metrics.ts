/** `yard trial metrics`: lists reports, downsampled series and metric names, and exports points. */
import type { Plain } from "@trainyard/contracts";
import {
  ListTrialMetricNamesResponseSchema,
  ListTrialMetricsResponseSchema,
  type MetricPoint,
  MetricPointSchema,
  QueryMetricsResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { csvLine } from "../csv.ts";
import { eventFile } from "../event-file.ts";
import { detachSignal } from "../follow.ts";
import { number, type Output, printable, printableLines } from "../output.ts";
import { allPages } from "../pages.ts";
import { UsageError } from "../usage-error.ts";
import { whyNoPoints } from "./missing-series.ts";

type Options = {
  readonly follow?: boolean;
  readonly group?: string;
  readonly superseded?: boolean;
  readonly series?: readonly string[];
  readonly names?: string | true;
  readonly x?: string;
  readonly from?: number;
  readonly to?: number;
  readonly buckets?: number;
  readonly combined?: boolean;
  readonly export?: string;
};

export function addMetricsCommand(group: Command): void {
  group
    .command("metrics")
    .argument("<trial...>")
    .option("-f, --follow", "print new points until the trial ends")
    .option("--group <name>", "training, validation, or one of your own")
    .option("--superseded", "also points of runs that a later run replaced")
    .option("--names [prefix]", "the names of its metrics")
    .option(
      "--series <metric...>",
      "these metrics, also of several trials, in at most --buckets parts",
    )
    .option("--buckets <count>", "parts of each series (1000)", Number)
    .option("--x <axis>", "step, time, or a metric of the same reports, such as epoch (step)")
    .option("--from <x>", "from here on", Number)
    .option("--to <x>", "up to here", Number)
    .option("--combined", "one series of all points of the trials: their mean and deviation")
    .option("--export <format>", "csv, jsonl or tensorboard: every point, on stdout")
    .description("its stored metrics")
    .action(withPlatform<Options>(metrics));
}

async function metrics(
  context: Context,
  trials: readonly string[],
  options: Options,
): Promise<void> {
  if (options.series !== undefined && options.follow === true) {
    throw new UsageError("--follow cannot be combined with --series.");
  }
  if (options.series !== undefined) return series(context, trials, options, options.series);
  const [trial = "", another] = trials;
  if (another !== undefined) throw new UsageError("Give --series to read several trials.");
  if (options.follow === true && (options.names !== undefined || options.export !== undefined)) {
    throw new UsageError("--follow cannot be combined with --names or --export.");
  }
  if (options.names !== undefined) return names(context, trial, options);
  if (options.export !== undefined) return exported(context, trial, options);
  return options.follow === true ? follow(context, trial, options) : list(context, trial, options);
}

/** Returns all stored points, and the position from which the stream has all later ones. */
async function points({ client }: Context, trial: string, options: Options) {
  const { group = "", superseded = false } = options;
  let first: string | undefined;
  const page = await allPages(async (start) => {
    const answer = await client.call("listTrialMetrics", { trial, group, superseded, ...start });
    first ??= answer.streamPosition;
    return answer;
  });
  return { ...page, streamPosition: first ?? "" };
}

async function list(context: Context, trial: string, options: Options): Promise<void> {
  const { output } = context;
  const page = await points(context, trial, options);
  if (output.json) {
    output.message(ListTrialMetricsResponseSchema, page);
    return;
  }
  output.table<Plain<MetricPoint>>(page.items, [
    { title: "RUN", value: (point) => String(point.run), right: true },
    { title: "GROUP", value: ({ group }) => group },
    { title: "STEPS", value: (point) => String(point.stepsCompleted), right: true },
    { title: "METRICS", value: valuesOf },
    { title: "", value: (point) => (point.superseded ? "superseded" : "") },
  ]);
}

/** Prints the stored points, then each new point, until the trial ends. */
async function follow(context: Context, trial: string, options: Options): Promise<void> {
  const { client, output } = context;
  const signal = detachSignal(output);
  const { items, streamPosition: after } = await points(context, trial, options);
  for (const point of items) printPoint(output, point);
  // A point that was reported while the pages were listed may be in a later page and in the stream.
  const listed = new Set(items.map(({ run, key }) => `${run} ${key}`));
  const request = { trial, group: options.group ?? "", after };
  try {
    const stream = client.stream("followTrialMetrics", request, { signal, outlast: true });
    for await (const { message } of stream) {
      const { point, superseded } = message;
      if (superseded !== undefined) {
        const { run, afterStep } = superseded;
        const from = afterStep < 0 ? "all steps" : `the steps after ${afterStep}`;
        output.note(`run ${run} repeats ${from}: points of earlier runs there are superseded`);
      }
      if (point === undefined || listed.delete(`${point.run} ${point.key}`)) continue;
      if (!point.superseded || options.superseded === true) printPoint(output, point);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function printPoint(output: Output, point: Plain<MetricPoint>): void {
  if (output.json) {
    output.message(MetricPointSchema, point);
    return;
  }
  const { run, group, stepsCompleted: step, superseded } = point;
  const words = [`run ${run}`, group, `step ${step}`, valuesOf(point)];
  output.line(printable([...words, ...(superseded ? ["superseded"] : [])].join("  ")));
}

/** Formats metrics as `loss=0.5 note="x"`. Values that are no numbers are JSON, cut at the end of a line. */
function valuesOf({ metrics: scalars, others }: Plain<MetricPoint>): string {
  const numbers = Object.entries(scalars).map(([name, value]) => `${name}=${number(value)}`);
  const rest = Object.entries(others ?? {}).map(([name, value]) => {
    const text = JSON.stringify(value);
    return `${name}=${text.length > 60 ? `${text.slice(0, 59)}…` : text}`;
  });
  return [...numbers, ...rest].join(" ");
}

async function names({ client, output }: Context, trial: string, options: Options): Promise<void> {
  const prefix = typeof options.names === "string" ? options.names : "";
  const page = await allPages(async (start) => {
    const request = { trial, group: options.group ?? "", prefix, ...start };
    return { ...(await client.call("listTrialMetricNames", request)), position: "" };
  });
  if (output.json) {
    output.message(ListTrialMetricNamesResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "GROUP", value: ({ group }) => group },
    { title: "NAME", value: ({ name }) => name },
    { title: "VALUES", value: ({ kind }) => (kind === "scalar" ? "numbers" : "other") },
  ]);
}

async function series(
  { client, output }: Context,
  trials: readonly string[],
  options: Options,
  metricNames: readonly string[],
): Promise<void> {
  const { group = "", x = "", buckets = 0, superseded = false, combined = false } = options;
  const answer = await client.call("queryMetrics", {
    ...{ trials: [...trials], names: [...metricNames], group, x, buckets, superseded, combined },
    ...(options.from === undefined ? {} : { from: options.from }),
    ...(options.to === undefined ? {} : { to: options.to }),
  });
  const shown = new Set(
    answer.series.filter(({ xMin }) => xMin.length > 0).map(({ name }) => name),
  );
  const missing = metricNames.filter((name) => !shown.has(name));
  if (missing.length > 0) {
    const asked = { trials, group: group || "training", names: missing };
    const reasons = await whyNoPoints(client, asked);
    const text = [...new Set(reasons.map((why) => why.text))].join("\n");
    if (shown.size === 0 && reasons.every(({ isWrong }) => isWrong)) throw new UsageError(text);
    output.note(printableLines(text));
  }
  if (output.json) {
    output.message(QueryMetricsResponseSchema, answer);
    return;
  }
  const rows = answer.series.flatMap((one) =>
    one.xMin.map((from, i) => ({ one, from, i, to: one.xMax[i] ?? from })),
  );
  const column = (title: string, value: (row: (typeof rows)[number]) => number | undefined) => {
    return { title, value: (row: (typeof rows)[number]) => number(value(row)), right: true };
  };
  output.table(rows, [
    { title: "TRIAL", value: ({ one }) => one.trial || "all", right: true },
    { title: "METRIC", value: ({ one }) => one.name },
    {
      title: (options.x ?? "step").toUpperCase(),
      value: ({ from, to }) => (from === to ? String(from) : `${from}-${to}`),
      right: true,
    },
    column("POINTS", ({ one, i }) => one.count[i]),
    column("MEAN", ({ one, i }) => one.mean[i]),
    column("MIN", ({ one, i }) => one.min[i]),
    column("MAX", ({ one, i }) => one.max[i]),
    column("LAST", ({ one, i }) => one.last[i]),
    column("NOT FINITE", ({ one, i }) => (one.nans[i] ?? 0) + (one.infinities[i] ?? 0)),
  ]);
}

async function exported(context: Context, trial: string, options: Options): Promise<void> {
  const { output } = context;
  const format = options.export ?? "";
  if (!["csv", "jsonl", "tensorboard"].includes(format)) {
    throw new UsageError(`--export takes csv, jsonl or tensorboard, not ${format}.`);
  }
  const { items } = await points(context, trial, options);
  if (format === "tensorboard") {
    output.bytes(eventFile(items.map(eventPointOf)));
    return;
  }
  if (format === "jsonl") {
    for (const point of items) output.line(JSON.stringify(plainOf(point)));
    return;
  }
  const all = new Set(
    items.flatMap(({ metrics: own, others }) => Object.keys({ ...own, ...others })),
  );
  const columns = [...all].toSorted();
  output.line(csvLine(["trial", "run", "group", "step", "time_ms", "superseded", ...columns]));
  for (const point of items) {
    const { run, group, step, time_ms, superseded, metrics: values } = plainOf(point);
    const cells = columns.map((name) => cellOf(values[name]));
    output.line(csvLine([trial, run, group, step, time_ms, superseded, ...cells].map(String)));
  }
}

/** Tags each metric as the SDK does when it copies reports to TensorBoard files. */
function eventPointOf({ group, reportedAtMs, stepsCompleted, metrics: own }: Plain<MetricPoint>) {
  const tagged = Object.entries(own).map(([name, value]) => [`${group}/${name}`, value] as const);
  return { atMs: reportedAtMs, step: stepsCompleted, scalars: Object.fromEntries(tagged) };
}

/** Returns a point whose non-finite numbers are strings, since JSON has no such numbers. */
function plainOf(point: Plain<MetricPoint>) {
  const scalars = Object.entries(point.metrics).map(([name, value]): [string, unknown] => [
    name,
    Number.isFinite(value) ? value : String(value),
  ]);
  const { trial, run, group, stepsCompleted: step, reportedAtMs, superseded, others } = point;
  const values: Record<string, unknown> = { ...Object.fromEntries(scalars), ...others };
  return { trial, run, group, step, time_ms: reportedAtMs, superseded, metrics: values };
}

const cellOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
