/** Reads whole stored reports, page by page in the order (run, step, key), from tails and blocks. */
import { parseTrialId } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import { inOrder } from "../core/columns/table.ts";
import { answeredBytes, metricsText } from "../core/values.ts";
import { metricsLimits } from "../limits.ts";
import { inSnapshot, type Part, type PartReport, partsOf, reportsOf } from "./stored-parts.ts";
import { streamPosition } from "./stream-table.ts";

export type Cursor = { readonly run: number; readonly step: number; readonly key: string };

export type ReportQuery = {
  readonly trial: string;
  /** The group to read; null for all groups. */
  readonly group: string | null;
  readonly after: Cursor | null;
  readonly limit: number;
  /** The last step at which reports of a run count; Infinity if all of them count. */
  readonly lastStep: (run: number) => number;
};

export type ReportPage = {
  readonly reports: readonly PartReport[];
  readonly more: boolean;
  /** The position of the experiment's stream when the reports were read. */
  readonly streamPosition: number;
};

export const byPosition = (a: PartReport, b: PartReport): number => a.run - b.run || inOrder(a, b);

/** Reads a page. It ends at its limit of bytes, but never before its first report. */
export async function readReports(pool: Pool, query: ReportQuery): Promise<ReportPage> {
  const { trial, group, after, limit, lastStep } = query;
  const experiment = parseTrialId(trial)?.experiment ?? "";
  return inSnapshot(pool, async (client) => {
    const position = await streamPosition(client, experiment);
    const isWanted = ({ run, step, key }: PartReport): boolean =>
      step <= lastStep(run) && (after === null || comparePosition({ run, step, key }, after) > 0);
    const parts = (await partsOf(client, trial, group)).filter(
      ({ run, firstStep, lastStep: last }) =>
        firstStep <= lastStep(run) &&
        (after === null || run > after.run || (run === after.run && last >= after.step)),
    );
    const reports: PartReport[] = [];
    let bytes = 0;
    for await (const report of inPosition(client, parts, limit + 1)) {
      if (!isWanted(report)) continue;
      if (reports.length === limit || bytes >= metricsLimits.pageBytesMax) {
        return { reports, more: true, streamPosition: position };
      }
      const metricsBytes = Buffer.byteLength(metricsText(report.metrics));
      bytes += answeredBytes([trial, report.group, report.key], metricsBytes);
      reports.push(report);
    }
    return { reports, more: false, streamPosition: position };
  });
}

function comparePosition(a: Cursor, b: Cursor): number {
  return a.run - b.run || inOrder(a, b);
}

/** Reads parts, which are in the order (run, first step), in batches of at least `atOnce` reports. */
async function* inPosition(
  client: PoolClient,
  parts: readonly Part[],
  atOnce: number,
): AsyncGenerator<PartReport> {
  let held: PartReport[] = [];
  for (let next = 0; next < parts.length; ) {
    const from = next;
    for (let count = 0; next < parts.length && count < atOnce; next += 1) {
      count += parts[next]?.reports ?? 0;
    }
    held = [...held, ...(await reportsOf(client, parts.slice(from, next)))].sort(byPosition);
    const following = parts[next];
    const end =
      following === undefined ? -1 : held.findIndex((report) => !isBefore(report, following));
    yield* held.splice(0, end < 0 ? held.length : end);
  }
}

const isBefore = ({ run, step }: PartReport, part: Part): boolean =>
  run < part.run || (run === part.run && step < part.firstStep);
