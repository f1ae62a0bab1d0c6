/**
 * Some reports of one group of one run as columns in memory: the frame has what a report is beside its values (key, step,
 * time, rank), and each metric is a column of its own. Tables are joined, put in order and divided without a report being
 * made of them.
 */
import { type JsonObject, scalarOf } from "../values.ts";

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

/** All lists but the prefixes are equally long: an entry for each report. */
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

/** `positions` are ascending indexes into the frame; null when every report has the metric. */
export type Scalars = {
  readonly positions: ArrayLike<number> | null;
  readonly values: ArrayLike<number>;
};
type Others = {
  readonly positions: ArrayLike<number> | null;
  readonly values: ArrayLike<JsonObject[string]>;
};
export type TableColumn = { readonly name: string } & (
  | ({ readonly kind: "scalar" } & Scalars)
  | ({ readonly kind: "json" } & Others)
);

/** Scalars and other JSON values under one name are two columns. A column has at least one point. */
export type Table = { readonly frame: Frame; readonly columns: readonly TableColumn[] };

export const reportsIn = ({ frame }: Table): number => frame.steps.length;

/** In the order of the reports. */
export function tableOf(reports: readonly StoredReport[]): Table {
  const prefixes = new Map<string, number>();
  const list = (): Float64Array => new Float64Array(reports.length);
  const frame = {
    ...{ owners: list(), numbers: list(), steps: list(), times: list(), ranks: list() },
    aggregations: list(),
  };
  const gathered = { scalar: new Map<string, Gathered>(), json: new Map<string, Gathered>() };
  for (const [i, report] of reports.entries()) {
    const { prefix, n } = splitKey(report.key);
    let owner = prefixes.get(prefix);
    if (owner === undefined) prefixes.set(prefix, (owner = prefixes.size));
    frame.owners[i] = owner;
    frame.numbers[i] = n;
    frame.steps[i] = report.step;
    frame.times[i] = report.atMs;
    frame.ranks[i] = report.rank;
    frame.aggregations[i] = aggregations.indexOf(report.aggregation);
    for (const name of Object.keys(report.metrics)) {
      const value = report.metrics[name] ?? null;
      const scalar = scalarOf(value);
      if (scalar === undefined) add(gathered.json, name, i, value);
      else add(gathered.scalar, name, i, scalar);
    }
  }
  const columns = (["scalar", "json"] as const).flatMap((kind) =>
    [...gathered[kind]].map(([name, { positions, values }]) =>
      columnOf(name, kind, positions.length === reports.length ? null : positions, values),
    ),
  );
  return { frame: { prefixes: [...prefixes.keys()], ...frame }, columns };
}

type Gathered = { readonly positions: number[]; readonly values: JsonObject[string][] };

function add(
  columns: Map<string, Gathered>,
  name: string,
  position: number,
  value: JsonObject[string],
): void {
  let column = columns.get(name);
  if (column === undefined) columns.set(name, (column = { positions: [], values: [] }));
  column.positions.push(position);
  column.values.push(value);
}

function columnOf(
  name: string,
  kind: TableColumn["kind"],
  positions: ArrayLike<number> | null,
  values: ArrayLike<JsonObject[string]>,
): TableColumn {
  return kind === "json"
    ? { name, kind, positions, values }
    : { name, kind, positions, values: values as ArrayLike<number> }; // The caller's are scalars.
}

/** 0-17 is number 17 of 0; what ends otherwise is all prefix, with the number -1. */
export function splitKey(key: string): { readonly prefix: string; readonly n: number } {
  const dash = key.lastIndexOf("-");
  const digits = key.slice(dash + 1);
  if (dash < 0 || !/^(?:0|[1-9]\d{0,13})$/.test(digits)) return { prefix: key, n: -1 };
  return { prefix: key.slice(0, dash), n: Number(digits) };
}

function keyAt({ prefixes, owners, numbers }: Frame, index: number): string {
  const prefix = prefixes[owners[index] ?? -1] ?? "";
  const n = numbers[index] ?? -1;
  return n < 0 ? prefix : `${prefix}-${n}`;
}

/** The reports again, in the order of the table. */
export function reportsOfTable({ frame, columns }: Table): readonly StoredReport[] {
  const metrics = Array.from(frame.steps, (): [string, JsonObject[string]][] => []);
  for (const { name, positions, values } of columns) {
    for (let i = 0; i < values.length; i += 1) {
      const value = values[i] as JsonObject[string];
      metrics[positions === null ? i : (positions[i] ?? -1)]?.push([name, spell(value)]);
    }
  }
  return metrics.map((values, i) => ({
    key: keyAt(frame, i),
    step: frame.steps[i] ?? 0,
    atMs: frame.times[i] ?? 0,
    rank: frame.ranks[i] ?? 0,
    aggregation: aggregations[frame.aggregations[i] ?? 0] ?? "mean",
    metrics: Object.fromEntries(values),
  }));
}

/** As the report's JSON says it. */
const spell = (value: JsonObject[string]): JsonObject[string] =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;

/** One after the other. At least one table. */
export function joinTables(tables: readonly Table[]): Table {
  const [only] = tables;
  if (tables.length === 1 && only !== undefined) return only;
  const starts: number[] = [];
  let reports = 0;
  for (const table of tables) {
    starts.push(reports);
    reports += reportsIn(table);
  }
  const parts = { scalar: new Map<string, Placed[]>(), json: new Map<string, Placed[]>() };
  for (const [i, table] of tables.entries()) {
    for (const column of table.columns) {
      const place = { start: starts[i] ?? 0, reports: reportsIn(table), column };
      const known = parts[column.kind].get(column.name);
      if (known === undefined) parts[column.kind].set(column.name, [place]);
      else known.push(place);
    }
  }
  const columns = (["scalar", "json"] as const).flatMap((kind) =>
    [...parts[kind]].map(([name, placed]) => joinColumns(name, kind, placed, reports)),
  );
  return { frame: joinFrames(tables.map(({ frame }) => frame)), columns };
}

/** A column of reports that begin at `start`. */
type Placed = { readonly start: number; readonly reports: number; readonly column: TableColumn };

function joinColumns(
  name: string,
  kind: TableColumn["kind"],
  placed: readonly Placed[],
  reports: number,
): TableColumn {
  const positions: number[] = [];
  const values: JsonObject[string][] = [];
  for (const { start, column } of placed) {
    for (let i = 0; i < column.values.length; i += 1) {
      positions.push(start + (column.positions === null ? i : (column.positions[i] ?? 0)));
      values.push(column.values[i] as JsonObject[string]);
    }
  }
  return columnOf(name, kind, positions.length === reports ? null : positions, values);
}

function joinFrames(frames: readonly Frame[]): Frame {
  const prefixes = new Map<string, number>();
  const owners = frames.map((frame) => {
    const own = frame.prefixes.map((prefix) => {
      const owner = prefixes.get(prefix) ?? prefixes.size;
      prefixes.set(prefix, owner);
      return owner;
    });
    return frame.owners.map((owner) => own[owner] ?? 0);
  });
  const all = (read: (frame: Frame) => Float64Array): Float64Array => joinLists(frames.map(read));
  return {
    prefixes: [...prefixes.keys()],
    owners: joinLists(owners),
    numbers: all(({ numbers }) => numbers),
    steps: all(({ steps }) => steps),
    times: all(({ times }) => times),
    ranks: all(({ ranks }) => ranks),
    aggregations: all((frame) => frame.aggregations),
  };
}

export function joinLists(lists: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const list of lists) {
    joined.set(list, end);
    end += list.length;
  }
  return joined;
}

/** (step, key). */
export const inOrder = (
  a: Pick<StoredReport, "step" | "key">,
  b: Pick<StoredReport, "step" | "key">,
): number => a.step - b.step || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The indexes of a table's reports in the order (step, key). */
export function orderOf({ frame }: Table): Uint32Array {
  const order = Uint32Array.from(frame.steps, (_, index) => index);
  const compare = (a: number, b: number): number => {
    const difference = (frame.steps[a] ?? 0) - (frame.steps[b] ?? 0);
    if (difference !== 0) return difference;
    return keyAt(frame, a) < keyAt(frame, b) ? -1 : 1;
  };
  for (let i = 1; i < order.length; i += 1) if (compare(i - 1, i) > 0) return order.sort(compare);
  return order;
}

/** The reports at these indexes, in their order. */
export function takeReports({ frame, columns }: Table, indexes: Uint32Array): Table {
  const pick = (list: Float64Array): Float64Array =>
    Float64Array.from(indexes, (index) => list[index] ?? Number.NaN);
  const places = new Int32Array(frame.steps.length).fill(-1);
  for (const [place, index] of indexes.entries()) places[index] = place;
  const taken = {
    prefixes: frame.prefixes,
    owners: pick(frame.owners),
    numbers: pick(frame.numbers),
    steps: pick(frame.steps),
    times: pick(frame.times),
    ranks: pick(frame.ranks),
    aggregations: pick(frame.aggregations),
  };
  return {
    frame: taken,
    columns: columns
      .map((column) => takePoints(column, indexes, places))
      .filter(({ values }) => values.length > 0),
  };
}

function takePoints(
  { name, kind, positions, values }: TableColumn,
  indexes: Uint32Array,
  places: Int32Array,
): TableColumn {
  if (positions === null) {
    const own = Array.from(indexes, (index) => values[index] as JsonObject[string]);
    return columnOf(name, kind, null, own);
  }
  const points: { readonly place: number; readonly value: JsonObject[string] }[] = [];
  for (let i = 0; i < positions.length; i += 1) {
    const place = places[positions[i] ?? 0] ?? -1;
    if (place >= 0) points.push({ place, value: values[i] as JsonObject[string] });
  }
  points.sort((a, b) => a.place - b.place);
  return columnOf(
    name,
    kind,
    points.length === indexes.length ? null : points.map(({ place }) => place),
    points.map(({ value }) => value),
  );
}
