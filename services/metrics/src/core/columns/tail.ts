/** The tail: the reports of a request as they came, a JSON list each, until compaction makes columns of them. */
import { type Aggregation, aggregations, type StoredReport } from "./block.ts";
import type { JsonObject } from "../values.ts";

type Line = [key: string, step: number, atMs: number, metrics: JsonObject, ...([] | Beside)];
type Beside = [rank: number, aggregation: Aggregation];

/** Of reports whose metrics JSON can say. Written at once: a call for each would take twice as long. */
export function tailText(reports: readonly StoredReport[]): string {
  return JSON.stringify(reports.map(lineOf));
}

function lineOf({ key, step, atMs, rank, aggregation, metrics }: StoredReport): Line {
  return rank === 0 && aggregation === "mean"
    ? [key, step, atMs, metrics]
    : [key, step, atMs, metrics, rank, aggregation];
}

/** A text of tailText. */
export function readTail(text: string): readonly StoredReport[] {
  const lines = JSON.parse(text) as readonly Line[]; // Written by tailText.
  return lines.map(([key, step, atMs, metrics, rank = 0, aggregation = aggregations[0]]) => {
    return { key, step, atMs, rank, aggregation, metrics };
  });
}
