/** Reads the least and greatest x of a trial's points, from the summaries of its blocks where these are exact. */
import type { PoolClient } from "pg";
import type { Bounds } from "../core/series/buckets.ts";
import { chunksOf, type SeriesRequest } from "./series-reader.ts";
import type { Part } from "./stored-parts.ts";

/** Returns the bounds by metric. The parts are those that have points of the request. */
export async function readBounds(
  client: PoolClient,
  request: SeriesRequest,
  parts: readonly Part[],
): Promise<ReadonlyMap<string, Bounds>> {
  const blocks = parts.filter(({ kind }) => kind === "block");
  const summaries = await summariesOf(client, blocks, request);
  const found = new Map<string, Bounds>();
  const decoded: Part[] = [];
  for (const part of parts) {
    const bounds = part.kind === "tail" ? null : exactBounds(part, summaries, request);
    if (bounds === null) decoded.push(part);
    else for (const [name, own] of bounds) widen(found, name, own);
  }
  for (const [name, chunks] of await chunksOf(client, decoded, request)) {
    for (const { run, steps, xs } of chunks) {
      const own = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
      const last = request.lastStep(run);
      for (const [i, x] of xs.entries()) {
        if (!Number.isFinite(x) || (steps[i] ?? Number.NaN) > last) continue;
        if (x < own.from) own.from = x;
        if (x > own.to) own.to = x;
      }
      widen(found, name, own);
    }
  }
  return found;
}

export function widen(all: Map<string, Bounds>, name: string, { from, to }: Bounds): void {
  const known = all.get(name);
  all.set(name, {
    from: Math.min(from, known?.from ?? from),
    to: Math.max(to, known?.to ?? to),
  });
}

type Summary = {
  readonly block: string;
  readonly name: string;
  readonly points: number;
  readonly min: number | null;
  readonly max: number | null;
};

/** Returns the summaries by block. */
async function summariesOf(
  client: PoolClient,
  blocks: readonly Part[],
  { names, x }: SeriesRequest,
): Promise<ReadonlyMap<string, readonly Summary[]>> {
  if (blocks.length === 0) return new Map();
  const { rows } = await client.query<Summary>({
    name: "series-summaries",
    text: `select block::text as block, name, points, min, max from metrics.columns
           where block = any($1::bigint[]) and kind = 'scalar' and name = any($2::text[])`,
    values: [blocks.map(({ id }) => id), [...names, x]],
  });
  return Map.groupBy(rows, ({ block }) => block);
}

/**
 * Returns the bounds of a block's metrics; null where only the points tell them: a later run supersedes some, or a
 * metric is not in every report.
 */
function exactBounds(
  part: Part,
  summaries: ReadonlyMap<string, readonly Summary[]>,
  { names, x, lastStep }: SeriesRequest,
): ReadonlyMap<string, Bounds> | null {
  const all = summaries.get(part.id) ?? [];
  const own = all.filter(({ name }) => names.includes(name));
  const ofX = all.find(({ name }) => name === x);
  const isMetric = x !== "step" && x !== "time";
  if (own.length === 0 || (isMetric && ofX === undefined)) return new Map();
  if (part.lastStep > lastStep(part.run)) return null;
  const needed = isMetric && ofX !== undefined ? [...own, ofX] : own;
  if (needed.some(({ points }) => points < part.reports)) return null;
  const [from, to] =
    x === "step"
      ? [part.firstStep, part.lastStep]
      : x === "time"
        ? [part.firstAtMs, part.lastAtMs]
        : [ofX?.min ?? Number.POSITIVE_INFINITY, ofX?.max ?? Number.NEGATIVE_INFINITY];
  return new Map(own.map(({ name }) => [name, { from, to }]));
}
