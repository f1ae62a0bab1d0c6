/** Reads the points of some metrics of one trial's group, from the frames and columns of blocks and from tails. */
import type { PoolClient } from "pg";
import { decodeFrame, decodeScalars, decodeSteps, type Encoded } from "../core/columns/block.ts";
import type { Chunk } from "../core/series/points.ts";
import { metricsLimits } from "../limits.ts";
import { type Part, partsOf, tailsById } from "./stored-parts.ts";

export type SeriesRequest = {
  readonly trial: string;
  readonly group: string;
  readonly names: readonly string[];
  /** `step`, `time`, or the name of a metric. */
  readonly x: string;
  /** Points before this x may be left out. */
  readonly from: number | null;
  readonly to: number | null;
  readonly lastStep: (run: number) => number;
};

/** Returns the chunks by name; null when they have more points than one answer may have. */
export async function readChunks(
  client: PoolClient,
  request: SeriesRequest,
): Promise<ReadonlyMap<string, readonly Chunk[]> | null> {
  const parts = await wantedParts(client, request);
  return parts === null ? null : chunksOf(client, parts, request);
}

/** Returns the parts that have points of the request; null when these are more than one answer may have. */
export async function wantedParts(
  client: PoolClient,
  request: SeriesRequest,
): Promise<readonly Part[] | null> {
  const { trial, group } = request;
  const parts = (await partsOf(client, trial, group)).filter((part) => isWanted(part, request));
  return pointsOf(parts, request) > metricsLimits.seriesPointsMax ? null : parts;
}

/** Returns the most points of the request that parts can have. */
export function pointsOf(parts: readonly Part[], { names }: SeriesRequest): number {
  return parts.reduce((sum, { reports }) => sum + reports, 0) * names.length;
}

export async function chunksOf(
  client: PoolClient,
  parts: readonly Part[],
  request: SeriesRequest,
): Promise<ReadonlyMap<string, readonly Chunk[]>> {
  const chunks = new Map(request.names.map((name): [string, Chunk[]] => [name, []]));
  const tails = parts.filter(({ kind }) => kind === "tail");
  const ids = tails.map(({ id }) => id);
  const encoded = await tailsById(client, ids);
  for (const { id, run } of tails) {
    const tail = encoded.get(id);
    if (tail !== undefined) addChunks(chunks, run, decodedOf(tail, request), request);
  }
  const blocks = parts.filter(({ kind }) => kind === "block");
  for (let start = 0; start < blocks.length; start += metricsLimits.blocksAtOnce) {
    await addBlocks(
      client,
      chunks,
      blocks.slice(start, start + metricsLimits.blocksAtOnce),
      request,
    );
  }
  return chunks;
}

/** Reports whether a part has steps that count and are in the range. */
function isWanted(part: Part, { x, from, to, lastStep }: SeriesRequest): boolean {
  if (part.firstStep > lastStep(part.run)) return false;
  if (x !== "step" && x !== "time") return true;
  const [first, last] =
    x === "step" ? [part.firstStep, part.lastStep] : [part.firstAtMs, part.lastAtMs];
  return (from === null || last >= from) && (to === null || first <= to);
}

// Bytes are read as base64: the driver reads bytea as hexadecimal text, which is longer and takes four times as long to
// decode.
const framesAndColumns = `
select blocks.id::text as id, run, encode(frame, 'base64') as frame, columns.name, encode(columns.body, 'base64') as body
from metrics.blocks join metrics.columns on columns.block = blocks.id and columns.kind = 'scalar'
where blocks.id = any($1::bigint[]) and columns.name = any($2::text[])`;

type ColumnRow = {
  readonly id: string;
  readonly run: number;
  readonly frame: string;
  readonly name: string;
  readonly body: string;
};

async function addBlocks(
  client: PoolClient,
  chunks: ReadonlyMap<string, Chunk[]>,
  blocks: readonly Part[],
  request: SeriesRequest,
): Promise<void> {
  const { names, x } = request;
  const wanted = x === "step" || x === "time" ? names : [...names, x];
  const { rows } = await client.query<ColumnRow>({
    name: "series-columns",
    text: framesAndColumns,
    values: [blocks.map(({ id }) => id), wanted],
  });
  // One piece of memory for all bodies, which are decoded one after the other into lists of their own.
  let scratch = Buffer.alloc(0);
  const decoded = (body: string): Scalars => {
    const most = Math.ceil((body.length * 3) / 4);
    if (scratch.length < most) scratch = Buffer.allocUnsafe(2 * most);
    return decodeScalars(scratch.subarray(0, scratch.write(body, "base64")));
  };
  for (const own of Map.groupBy(rows, ({ id }) => id).values()) {
    const [{ frame, run }] = own as [ColumnRow, ...ColumnRow[]];
    const columns = new Map(own.map(({ name, body }) => [name, decoded(body)]));
    addChunks(chunks, run, { frame: Buffer.from(frame, "base64"), columns }, request);
  }
}

type Decoded = {
  readonly frame: Uint8Array;
  readonly columns: ReadonlyMap<string, Scalars>;
};

function addChunks(
  chunks: ReadonlyMap<string, Chunk[]>,
  run: number,
  { frame: bytes, columns }: Decoded,
  { names, x }: SeriesRequest,
): void {
  if (columns.size === 0) return;
  const lists = listsOf(bytes);
  const xs = xsOf(lists, columns, x);
  for (const name of names) {
    const column = columns.get(name);
    if (column !== undefined && xs !== null)
      chunks.get(name)?.push(chunkOf(run, lists, column, xs));
  }
}

/** Decodes the scalar columns of a request. */
function decodedOf(
  { frame, columns }: Encoded,
  { names, x }: Pick<SeriesRequest, "names" | "x">,
): Decoded {
  const wanted = new Set([...names, x]);
  const scalars = columns.filter(({ name, kind }) => kind === "scalar" && wanted.has(name));
  return { frame, columns: new Map(scalars.map(({ name, body }) => [name, decodeScalars(body)])) };
}

type Lists = {
  readonly steps: Float64Array;
  /** Decodes the frame on the first call only. */
  readonly frame: () => ReturnType<typeof decodeFrame>;
};

function listsOf(bytes: Uint8Array): Lists {
  let frame: ReturnType<typeof decodeFrame> | null = null;
  return { steps: decodeSteps(bytes), frame: () => (frame ??= decodeFrame(bytes)) };
}

type Scalars = ReturnType<typeof decodeScalars>;

/** Returns each report's x by its position in the frame; null when no report has one. */
function xsOf(
  { steps, frame }: Lists,
  columns: ReadonlyMap<string, Scalars>,
  x: string,
): Float64Array | null {
  if (x === "step") return steps;
  if (x === "time") return frame().times;
  const column = columns.get(x);
  if (column === undefined) return null;
  const { positions, values } = column;
  if (positions === null) return values;
  const xs = new Float64Array(steps.length).fill(Number.NaN);
  for (const [i, position] of positions.entries()) xs[position] = values[i] ?? Number.NaN;
  return xs;
}

function chunkOf(
  run: number,
  { steps, frame }: Lists,
  { positions, values }: Scalars,
  xs: Float64Array,
): Chunk {
  const pick = (list: Float64Array): Float64Array =>
    positions === null
      ? list
      : Float64Array.from(positions, (position) => list[position] ?? Number.NaN);
  return {
    run,
    steps: pick(steps),
    xs: pick(xs),
    values,
    rest: () => {
      const { times, ranks, aggregations, numbers } = frame();
      return {
        times: pick(times),
        ranks: pick(ranks),
        aggregations: pick(aggregations),
        numbers: pick(numbers),
      };
    },
  };
}
