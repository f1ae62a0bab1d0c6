/**
 * A block: about a thousand reports of one group of one run, in the order (step, key), as bytes. The frame and each
 * column are separate byte strings, and each column has a summary. A chart of one metric reads only the frame and that
 * column. A block decodes to exactly the reports that were encoded.
 */
import { ByteReader, ByteWriter } from "./bytes.ts";
import { readNumbers, skipNumbers, writeNumbers } from "./numbers.ts";
import type { JsonObject } from "../values.ts";
import {
  type Frame,
  orderOf,
  placesOf,
  reportsIn,
  reportsOfTable,
  type StoredReport,
  type Table,
  type TableColumn,
  tableOf,
  takeReports,
} from "./table.ts";

export type ColumnKind = TableColumn["kind"];

/**
 * A summary of the column's points in the order (step, key). `min` and `max` ignore non-finite values; null without a
 * finite one.
 */
export type ColumnSummary = {
  readonly points: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly first: number | null;
  readonly last: number | null;
  readonly nans: number;
  readonly infinities: number;
};

export type EncodedColumn = {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly body: Uint8Array;
};

/** A table encoded as bytes. */
export type Encoded = { readonly frame: Uint8Array; readonly columns: readonly EncodedColumn[] };

export type Column = EncodedColumn & ColumnSummary;

export type Block = {
  readonly reports: number;
  readonly firstStep: number;
  readonly lastStep: number;
  /** The keys of the first and the last report. */
  readonly firstKey: string;
  readonly lastKey: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly frame: Uint8Array;
  readonly columns: readonly Column[];
};

const version = 1;

/** Encodes a block of at least one report; the list may be in any order. */
export function encodeBlock(reports: readonly StoredReport[]): Block {
  const table = tableOf(reports);
  return blockOf(takeReports(table, orderOf(table)));
}

/** Encodes a table of at least one report, which is in the order (step, key). */
export function blockOf(table: Table): Block {
  const { times } = table.frame;
  const { first, last } = placesOf(table);
  const extent = (which: (a: number, b: number) => number, start: number): number => {
    let found = start;
    for (let i = 0; i < times.length; i += 1) found = which(found, times[i] ?? start);
    return found;
  };
  const { frame, columns } = encodeTable(table);
  return {
    reports: reportsIn(table),
    firstStep: first.step,
    lastStep: last.step,
    firstKey: first.key,
    lastKey: last.key,
    firstAtMs: extent(Math.min, Number.POSITIVE_INFINITY),
    lastAtMs: extent(Math.max, Number.NEGATIVE_INFINITY),
    frame,
    columns: table.columns.map((column, i) => ({
      ...(columns[i] as EncodedColumn), // One for each.
      ...(column.kind === "scalar" ? summaryOf(column.values) : jsonSummary(column.values.length)),
    })),
  };
}

function encodeTable({ frame, columns }: Table): Encoded {
  const all = frame.steps.length;
  return {
    frame: written((to) => writeFrame(to, frame)),
    columns: columns.map((column) => ({
      name: column.name,
      kind: column.kind,
      body: written((to) => writeColumn(to, column, all)),
    })),
  };
}

function written(write: (to: ByteWriter) => void): Uint8Array {
  const to = new ByteWriter();
  write(to);
  return to.done();
}

export function decodeTable({ frame, columns }: Encoded): Table {
  return { frame: decodeFrame(frame), columns: columns.map(decodeColumn) };
}

/** Decodes reports in their encoded order; in a block this is (step, key). */
export const decodeReports = (encoded: Encoded): readonly StoredReport[] =>
  reportsOfTable(decodeTable(encoded));

export function writeFrame(to: ByteWriter, frame: Frame): void {
  to.byte(version);
  to.varint(frame.prefixes.length);
  for (const prefix of frame.prefixes) to.text(prefix);
  writeNumbers(to, frame.owners);
  writeNumbers(to, frame.numbers);
  writeNumbers(to, frame.steps);
  writeNumbers(to, frame.times);
  writeNumbers(to, frame.ranks);
  writeNumbers(to, frame.aggregations);
}

export function decodeFrame(bytes: Uint8Array): Frame<Float64Array> {
  const { from, prefixes } = openFrame(bytes);
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

/** Decodes only the steps, which precede everything that is slow to decode. */
export function decodeSteps(bytes: Uint8Array): Float64Array {
  const { from } = openFrame(bytes);
  skipNumbers(from); // owners
  skipNumbers(from); // numbers
  return readNumbers(from);
}

function openFrame(bytes: Uint8Array) {
  const from = new ByteReader(bytes);
  if (from.byte() !== version) {
    throw new RangeError("block has an unknown format: a newer version of Trainyard wrote it");
  }
  return { from, prefixes: Array.from({ length: from.varint() }, () => from.text()) };
}

/** Writes a column. An empty list of positions means that every report has a point. */
export function writeColumn(to: ByteWriter, column: TableColumn, all: number): void {
  const { positions } = column;
  writeNumbers(to, positions === null || positions.length === all ? [] : positions);
  if (column.kind === "scalar") writeNumbers(to, column.values);
  else to.text(JSON.stringify(column.values));
}

function decodeColumn({ name, kind, body }: EncodedColumn): TableColumn {
  if (kind === "scalar") return { name, kind, ...decodeScalars(body) };
  const from = new ByteReader(body);
  const positions = readPositions(from);
  // `writeColumn` wrote these values.
  return { name, kind, positions, values: JSON.parse(from.text()) as JsonObject[string][] };
}

export function decodeScalars(body: Uint8Array): {
  readonly positions: Float64Array | null;
  readonly values: Float64Array;
} {
  const from = new ByteReader(body);
  return { positions: readPositions(from), values: readNumbers(from) };
}

function readPositions(from: ByteReader): Float64Array | null {
  const positions = readNumbers(from);
  return positions.length === 0 ? null : positions;
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

const jsonSummary = (points: number): ColumnSummary => ({
  ...{ points, min: null, max: null, first: null, last: null },
  ...{ nans: 0, infinities: 0 },
});
