/** Reads whole stored reports, page by page in the order (run, step, key), from tails and blocks. */
import { parseTrialId } from "@trainyard/kernel";
import type { Pool } from "pg";
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
  readonly throwIfLate: () => void;
};

export type ReportPage = {
  readonly reports: readonly PartReport[];
  readonly more: boolean;
  /** The position of the experiment's stream when the reports were read. */
  readonly streamPosition: number;
};

const byPosition = (a: Cursor, b: Cursor): number => a.run - b.run || inOrder(a, b);

/**
 * Reads a page. It ends at its limit of bytes, but never before its first report. Parts are read in the order of their
 * first reports, some at once, until the next one begins after the page: of a trial with a million reports at one step,
 * a page reads the few parts that its keys are in, and keeps no more than a page in memory.
 */
export async function readReports(pool: Pool, query: ReportQuery): Promise<ReportPage> {
  const { trial, group, after, limit, lastStep, throwIfLate } = query;
  const experiment = parseTrialId(trial)?.experiment ?? "";
  return inSnapshot(pool, async (client) => {
    const position = await streamPosition(client, experiment);
    const isWanted = (report: Cursor): boolean =>
      report.step <= lastStep(report.run) && (after === null || byPosition(report, after) > 0);
    const parts = (await partsOf(client, trial, group))
      .filter((part) => part.firstStep <= lastStep(part.run))
      .filter((part) => after === null || byPosition(lastOf(part), after) > 0)
      .sort((a, b) => byPosition(firstOf(a), firstOf(b)));
    let found: Found = { reports: [], more: false };
    for (let next = 0; next < parts.length; ) {
      const beyond = parts[next];
      const last = found.reports.at(-1);
      const isComplete = found.more && beyond !== undefined && last !== undefined;
      if (isComplete && byPosition(firstOf(beyond), last) > 0) break;
      throwIfLate();
      const some = firstParts(parts, next, limit);
      next += some.length;
      const read = (await reportsOf(client, some)).filter(isWanted);
      found = endedPage(trial, [...found.reports, ...read].sort(byPosition), limit, found.more);
    }
    return { ...found, streamPosition: position };
  });
}

type Found = { readonly reports: readonly PartReport[]; readonly more: boolean };

const firstOf = ({ run, firstStep, firstKey }: Part): Cursor => ({
  run,
  step: firstStep,
  key: firstKey,
});
const lastOf = ({ run, lastStep, lastKey }: Part): Cursor => ({
  run,
  step: lastStep,
  key: lastKey,
});

/** Takes parts with about as many reports as a page, within the limit of bytes. */
function firstParts(parts: readonly Part[], from: number, limit: number): readonly Part[] {
  let [to, reports, bytes] = [from, 0, 0];
  while (to < parts.length && reports <= limit && bytes <= metricsLimits.pagePartsBytesMax) {
    reports += parts[to]?.reports ?? 0;
    bytes += parts[to]?.bytes ?? 0;
    to += 1;
  }
  return parts.slice(from, to);
}

/** Ends a page of sorted reports at its limits; `more` says that it has ended before. */
function endedPage(
  trial: string,
  sorted: readonly PartReport[],
  limit: number,
  more: boolean,
): Found {
  let [end, bytes] = [0, 0];
  while (end < sorted.length && end < limit && bytes < metricsLimits.pageBytesMax) {
    const { metrics, group, key } = sorted[end] as PartReport;
    bytes += answeredBytes([trial, group, key], Buffer.byteLength(metricsText(metrics)));
    end += 1;
  }
  return { reports: sorted.slice(0, end), more: more || end < sorted.length };
}
