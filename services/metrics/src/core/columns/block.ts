/**
 * A block: some thousand reports of one group of one run as columns. The frame holds what a report is beside its values
 * (key, step, time, rank); each metric is a column of its own with a summary, so that a chart of one metric reads the
 * frame and that column. Scalars and other JSON values under one name are two columns. Reports are in the order (step,
 * key); a block decodes to exactly the reports that were encoded.
 */
import { ByteReader, ByteWriter } from "./bytes.ts";
import { readNumbers, writeNumbers } from "./numbers.ts";
import type { JsonObject } from "../values.ts";
import { scalarOf } from "../values.ts";

/** How the values of several ranks at one step become one. */
export const aggregations = ["mean", "sum", "min", "max"] as const;
export type Aggregation = (typeof aggregations)[number];

export type StoredReport = {
  readonly key: string;
  readonly step: number;
  /** Milliseconds since 1970, the reporting process's clock. */
  readonly atMs: number;
  readonly rank: number;
  readonly aggregation: Aggregation;
  readonly metrics: JsonObject;
};

export type ColumnKind = "scalar" | "json";

/** Over the column's points in the order (step, key). Least and greatest of the finite values: null without one. */
export type ColumnSummary = {
  readonly points: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly first: number | null;
  readonly last: number | null;
  readonly nans: number;
  readonly infinities: number;
};

export type Column = ColumnSummary & {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly body: Uint8Array;
};

export type Block = {
  readonly reports: number;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly frame: Uint8Array;
  readonly columns: readonly Column[];
};

export type Frame = {
  /** A key is its owner's prefix and, unless it is -1, its number. */
  readonly prefixes: readonly string[];
  readonly owners: Float64Array;
  readonly numbers: Float64Array;
  readonly steps: Float64Array;
  readonly times: Float64Array;
  readonly ranks: Float64Array;
  /** Indexes of `aggregations`. */
  readonly aggregations: Float64Array;
};

/** `positions` are indexes into the frame; null when every report of the block has the metric. */
export type Scalars = { readonly positions: Float64Array | null; readonly values: Float64Array };

const version = 1;

export const inOrder = (
  a: Pick<StoredReport, "step" | "key">,
  b: Pick<StoredReport, "step" | "key">,
): number => a.step - b.step || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** At least one report, in any order. */
export function encodeBlock(unordered: readonly StoredReport[]): Block {
  const reports = unordered.toSorted(inOrder);
  const times = reports.map(({ atMs }) => atMs);
  return {
    reports: reports.length,
    firstStep: reports.at(0)?.step ?? 0,
    lastStep: reports.at(-1)?.step ?? 0,
    firstAtMs: times.reduce((least, atMs) => Math.min(least, atMs), Number.POSITIVE_INFINITY),
    lastAtMs: times.reduce((most, atMs) => Math.max(most, atMs), Number.NEGATIVE_INFINITY),
    frame: encodeFrame(reports, times),
    columns: columnsOf(reports),
  };
}

function encodeFrame(reports: readonly StoredReport[], times: readonly number[]): Uint8Array {
  const prefixes = new Map<string, number>();
  const keys = reports.map(({ key }) => splitKey(key));
  for (const { prefix } of keys) {
    if (!prefixes.has(prefix)) prefixes.set(prefix, prefixes.size);
  }
  const to = new ByteWriter();
  to.byte(version);
  to.varint(prefixes.size);
  for (const prefix of prefixes.keys()) to.text(prefix);
  writeNumbers(
    to,
    keys.map(({ prefix }) => prefixes.get(prefix) ?? 0),
  );
  writeNumbers(
    to,
    keys.map(({ n }) => n),
  );
  writeNumbers(
    to,
    reports.map(({ step }) => step),
  );
  writeNumbers(to, times);
  writeNumbers(
    to,
    reports.map(({ rank }) => rank),
  );
  writeNumbers(
    to,
    reports.map(({ aggregation }) => aggregations.indexOf(aggregation)),
  );
  return to.done();
}

export function decodeFrame(bytes: Uint8Array): Frame {
  const from = new ByteReader(bytes);
  if (from.byte() !== version) {
    throw new RangeError("a block of an unknown form: a newer version of Trainyard wrote it");
  }
  const prefixes = Array.from({ length: from.varint() }, () => from.text());
  return {
    prefixes,
    owners: readNumbers(from),
    numbers: readNumbers(from),
    steps: readNumbers(from),
    times: readNumbers(from),
    ranks: readNumbers(from),
    aggregations: readNumbers(from),
  };
}

function keysOf({ prefixes, owners, numbers }: Frame): readonly string[] {
  return Array.from(owners, (owner, index) => {
    const n = numbers[index] ?? -1;
    const prefix = prefixes[owner] ?? "";
    return n < 0 ? prefix : `${prefix}-${n}`;
  });
}

/** 0-17 is number 17 of 0; what ends otherwise is all prefix, with the number -1. */
export function splitKey(key: string): { readonly prefix: string; readonly n: number } {
  const dash = key.lastIndexOf("-");
  const digits = key.slice(dash + 1);
  if (dash < 0 || !/^(?:0|[1-9]\d{0,13})$/.test(digits)) return { prefix: key, n: -1 };
  return { prefix: key.slice(0, dash), n: Number(digits) };
}

type Gathered<Value> = { readonly positions: number[]; readonly values: Value[] };

function columnsOf(reports: readonly StoredReport[]): readonly Column[] {
  const scalars = new Map<string, Gathered<number>>();
  const others = new Map<string, Gathered<unknown>>();
  for (const [position, { metrics }] of reports.entries()) {
    for (const name of Object.keys(metrics)) {
      const value = metrics[name] ?? null;
      const scalar = scalarOf(value);
      if (scalar === undefined) add(others, name, position, value);
      else add(scalars, name, position, scalar);
    }
  }
  return [
    ...[...scalars].map(([name, column]) => scalarColumn(name, column, reports.length)),
    ...[...others].map(([name, column]) => jsonColumn(name, column, reports.length)),
  ];
}

function add<Value>(
  columns: Map<string, Gathered<Value>>,
  name: string,
  position: number,
  value: Value,
): void {
  let column = columns.get(name);
  if (column === undefined) {
    column = { positions: [], values: [] };
    columns.set(name, column);
  }
  column.positions.push(position);
  column.values.push(value);
}

function scalarColumn(name: string, { positions, values }: Gathered<number>, all: number): Column {
  const to = new ByteWriter();
  writePositions(to, positions, all);
  writeNumbers(to, values);
  return { name, kind: "scalar", body: to.done(), ...summaryOf(values) };
}

export function summaryOf(values: ArrayLike<number>): ColumnSummary {
  let [min, max, nans, infinities] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? Number.NaN;
    if (Number.isNaN(value)) nans += 1;
    else if (!Number.isFinite(value)) infinities += 1;
    else {
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  const none = nans + infinities === values.length;
  const [first = null, last = null] = [values[0], values[values.length - 1]];
  const finite = { min: none ? null : min, max: none ? null : max };
  return { points: values.length, ...finite, first, last, nans, infinities };
}

function jsonColumn(name: string, { positions, values }: Gathered<unknown>, all: number): Column {
  const to = new ByteWriter();
  writePositions(to, positions, all);
  to.text(JSON.stringify(values));
  const none = { min: null, max: null, first: null, last: null, nans: 0, infinities: 0 };
  return { name, kind: "json", body: to.done(), points: values.length, ...none };
}

/** An empty list stands for all: a column has a point. */
function writePositions(to: ByteWriter, positions: readonly number[], all: number): void {
  writeNumbers(to, positions.length === all ? [] : positions);
}

function readPositions(from: ByteReader): Float64Array | null {
  const positions = readNumbers(from);
  return positions.length === 0 ? null : positions;
}

export function decodeScalars(body: Uint8Array): Scalars {
  const from = new ByteReader(body);
  return { positions: readPositions(from), values: readNumbers(from) };
}

/** The whole block again, in the order (step, key). */
export function decodeReports(
  frame: Uint8Array,
  columns: readonly Pick<Column, "name" | "kind" | "body">[],
): readonly StoredReport[] {
  const decoded = decodeFrame(frame);
  const { steps, times, ranks, aggregations: how } = decoded;
  const keys = keysOf(decoded);
  const metrics = keys.map((): [string, JsonObject[string]][] => []);
  for (const { name, kind, body } of columns) {
    const from = new ByteReader(body);
    const positions = readPositions(from);
    const values = kind === "scalar" ? readNumbers(from) : readJson(from);
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i] as JsonObject[string];
      metrics[positions === null ? i : (positions[i] ?? -1)]?.push([name, spell(value)]);
    }
  }
  return keys.map((key, i) => ({
    key,
    step: steps[i] ?? 0,
    atMs: times[i] ?? 0,
    rank: ranks[i] ?? 0,
    aggregation: aggregations[how[i] ?? 0] ?? "mean",
    metrics: Object.fromEntries(metrics[i] ?? []),
  }));
}

/** Written by jsonColumn. */
const readJson = (from: ByteReader): JsonObject[string][] =>
  JSON.parse(from.text()) as JsonObject[string][];

/** As the report's JSON says it. */
const spell = (value: JsonObject[string]): JsonObject[string] =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
