/** The result of writing new reports of one run: tails by group, and the run's new state. */
import type { Plain } from "@trainyard/contracts";
import type { SystemSample } from "@trainyard/contracts/commands";
import { type Aggregation, placesOf, tableOf } from "./columns/table.ts";
import { tailBytes } from "./columns/tail.ts";
import { type JsonObject, valuesOf } from "./values.ts";

export type NewReport = {
  readonly key: string;
  readonly group: string;
  readonly step: number;
  readonly atMs: number;
  /** The rank that measured the values, and the way to combine the values of several ranks at one step. */
  readonly rank: number;
  readonly aggregation: Aggregation;
  /** The metrics as they are read back: a value that JSON does not have is a string. */
  readonly metrics: JsonObject;
  /** The maximum size of the metrics as JSON. */
  readonly bytes: number;
  /** The samples of a machine, instead of metrics; null for reports of the training. */
  readonly system: Plain<SystemSample> | null;
};

export type Tail = Extent & {
  /** The keys of its first and its last report in the order (step, key). */
  readonly firstKey: string;
  readonly lastKey: string;
  readonly group: string;
  readonly reports: number;
  readonly body: Uint8Array;
};

const { POSITIVE_INFINITY: up, NEGATIVE_INFINITY: down } = Number;

/** Returns one tail for each group, in the order of the groups' first reports. */
export function tailsOf(reports: readonly NewReport[]): readonly Tail[] {
  return [...Map.groupBy(reports, ({ group }) => group)].map(([group, own]) => {
    const table = tableOf(own);
    const { first, last } = placesOf(table);
    const places = { firstKey: first.key, lastKey: last.key };
    return { group, reports: own.length, ...extentOf(own), ...places, body: tailBytes(table) };
  });
}

/** The first and last step and time of some reports. */
export type Extent = {
  readonly firstStep: number;
  readonly lastStep: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
};

export function joined<Known extends Extent>(a: Known, b: Extent): Known {
  return {
    ...a,
    firstStep: Math.min(a.firstStep, b.firstStep),
    lastStep: Math.max(a.lastStep, b.lastStep),
    firstAtMs: Math.min(a.firstAtMs, b.firstAtMs),
    lastAtMs: Math.max(a.lastAtMs, b.lastAtMs),
  };
}

/** Returns the extent of at least one report. */
export function extentOf(reports: readonly Pick<NewReport, "step" | "atMs">[]): Extent {
  let [firstStep, lastStep, firstAtMs, lastAtMs] = [up, down, up, down];
  for (const { step, atMs } of reports) {
    firstStep = Math.min(firstStep, step);
    lastStep = Math.max(lastStep, step);
    firstAtMs = Math.min(firstAtMs, atMs);
    lastAtMs = Math.max(lastAtMs, atMs);
  }
  return { firstStep, lastStep, firstAtMs, lastAtMs };
}

type Progress = { readonly fraction: number; readonly atMs: number };

/** Returns the last progress of the chief by the reporting clock, with the key of its report; null for none. */
export function latestProgress(
  reports: readonly NewReport[],
): (Progress & Pick<NewReport, "key">) | null {
  let latest: (Progress & Pick<NewReport, "key">) | null = null;
  for (const { group, rank, system, atMs, key, metrics } of reports) {
    if (group !== "progress" || rank !== 0 || system !== null) continue;
    if (latest !== null && latest.atMs > atMs) continue;
    const { progress: fraction } = valuesOf(metrics).scalars;
    if (fraction !== undefined && Number.isFinite(fraction)) latest = { fraction, atMs, key };
  }
  return latest;
}
