/** The tail: reports as they came, a JSON line each, until compaction makes columns of them. */
import { type Aggregation, aggregations, type StoredReport } from "./block.ts";
import type { JsonObject } from "../values.ts";

export type TailReport = Omit<StoredReport, "metrics"> & {
  /** The metrics as JSON text. */
  readonly metricsText: string;
};

/** One line, without its end. */
export function tailLine({ key, step, atMs, rank, aggregation, metricsText }: TailReport): string {
  const beside = rank === 0 && aggregation === "mean" ? "" : `,${rank},"${aggregation}"`;
  return `[${JSON.stringify(key)},${step},${atMs},${metricsText}${beside}]`;
}

type Line = [key: string, step: number, atMs: number, metrics: JsonObject, ...([] | Beside)];
type Beside = [rank: number, aggregation: Aggregation];

/** Lines of tailLine, with ends between them. */
export function readTail(text: string): readonly StoredReport[] {
  return text.split("\n").map((line) => {
    // Written by tailLine.
    const [key, step, atMs, metrics, rank = 0, aggregation = aggregations[0]] = JSON.parse(
      line,
    ) as Line;
    return { key, step, atMs, rank, aggregation, metrics };
  });
}
