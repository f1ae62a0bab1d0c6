/**
 * Reports of one group of one run as columns in memory. The frame has the key, step, time and rank of each report, and
 * each metric is a column. Tables are joined, sorted and split without building report objects.
 */
import { type JsonObject, scalarOf } from "../values.ts";

/** The ways to combine the values of several ranks at one step. */
export const aggregations = ["mean", "sum", "min", "max"] as const;
export type Aggregation = (typeof aggregations)[number];

export type StoredReport = {
  readonly key: string;
  readonly step: number;
  /** Milliseconds since 1970, by the reporting process's clock. */
  readonly atMs: number;
  readonly rank: number;
  readonly aggregation: Aggregation;
  readonly metrics: JsonObject;
};

/** The fields of all reports but their values. All lists except the prefixes have one entry for each report. */
export type Frame<List extends ArrayLike<number> = ArrayLike<number>> = {
  /** A key is its owner's prefix, followed by its number unless that is -1. */
  readonly prefixes: readonly string[];
  readonly owners: List;
  readonly numbers: List;
  readonly steps: List;
  readonly times: List;
  readonly ranks: List;
  /** Indexes into `aggregations`. */
  readonly aggregations: List;
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

/** A table; scalars and other JSON values of one name are two columns. A column has at least one point. */
export type Table = { readonly frame: Frame; readonly columns: readonly TableColumn[] };

export const reportsIn = ({ frame }: Table): number => frame.steps.length;

/** Builds a table in the order of the reports. */
export function tableOf(reports: readonly StoredReport[]): Table {
  const prefixes = new Map<string, number>();
  // Plain lists are faster here: a block has a few hundred reports, and allocating a typed list takes longer than
  // filling it.
  const list = (): number[] => [];
  const frame = {
    ...{ owners: list(), numbers: list(), steps: list(), times: list(), ranks: list() },
    aggregations: list(),
  };
  const gathered = { scalar: new Gathered(), json: new Gathered() };
  for (const [i, report] of reports.entries()) {
    const { prefix, n } = splitKey(report.key);
    let owner = prefixes.get(prefix);
    if (owner === undefined) prefixes.set(prefix, (owner = prefixes.size));
    frame.owners.push(owner);
    frame.numbers.push(n);
    frame.steps.push(report.step);
    frame.times.push(report.atMs);
    frame.ranks.push(report.rank);
    frame.aggregations.push(aggregations.indexOf(report.aggregation));
    for (const name of Object.keys(report.metrics)) {
      const value = report.metrics[name] ?? null;
      const scalar = scalarOf(value);
      if (scalar === undefined) gathered.json.add(name, i, value);
      else gathered.scalar.add(name, i, scalar);
    }
  }
  const columns = (["scalar", "json"] as const).flatMap((kind) =>
    gathered[kind].all.map(({ name, positions, values }) =>
      columnOf(name, kind, positions.length === reports.length ? null : positions, values),
    ),
  );
  return { frame: { prefixes: [...prefixes.keys()], ...frame }, columns };
}

type Points = {
  readonly name: string;
  /** The index of the name among all names. */
  readonly rank: number;
  readonly positions: number[];
  readonly values: JsonObject[string][];
};

/** Collects the points of each name, in the order of first occurrence. */
class Gathered {
  readonly all: Points[] = [];
  readonly #byName = new Map<string, Points>();
  #next = 0;

  add(name: string, position: number, value: JsonObject[string]): void {
    // Nearly every report has the same names in the same order as the one before.
    let points = this.all[this.#next];
    if (points?.name !== name) points = this.#byName.get(name) ?? this.#new(name);
    this.#next = points.rank + 1;
    points.positions.push(position);
    points.values.push(value);
    if (this.#next === this.all.length) this.#next = 0;
  }

  #new(name: string): Points {
    const points = { name, rank: this.all.length, positions: [], values: [] };
    this.all.push(points);
    this.#byName.set(name, points);
    return points;
  }
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

/**
 * Splits a key before its number: 0-17 has the prefix 0 and the number 17. A key without a number is all prefix, with
 * the number -1.
 */
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

/** Converts a table back to reports, in the table's order. */
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

/** Writes a value like the report's JSON does. */
const spell = (value: JsonObject[string]): JsonObject[string] =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;

const reportBytes = 64;
const valueBytes = 16;

/** The approximate size of the reports as JSON, and so in memory, however short their encoded columns are. */
export function textBytesOf({ frame, columns }: Table): number {
  let bytes = reportBytes * frame.steps.length;
  for (const { name, kind, values } of columns) {
    bytes += (name.length + valueBytes) * values.length;
    if (kind === "json") bytes += JSON.stringify(values).length;
  }
  return bytes;
}

/** Concatenates at least one table. */
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

/** A column and the index of its first report in the joined table. */
type Placed = { readonly start: number; readonly reports: number; readonly column: TableColumn };

function joinColumns(
  name: string,
  kind: TableColumn["kind"],
  placed: readonly Placed[],
  reports: number,
): TableColumn {
  const points = placed.reduce((sum, { column }) => sum + column.values.length, 0);
  const values = valueList(kind, points);
  const positions = points === reports ? null : new Float64Array(points);
  let end = 0;
  for (const { start, column } of placed) {
    for (let i = 0; i < column.values.length; i += 1) {
      if (positions !== null) positions[end] = start + (column.positions?.[i] ?? i);
      values[end] = column.values[i] as JsonObject[string];
      end += 1;
    }
  }
  return columnOf(name, kind, positions, values);
}

/** Allocates a list for this number of values. Lists of doubles are several times faster than others. */
const valueList = (
  kind: TableColumn["kind"],
  length: number,
): { [index: number]: unknown } & ArrayLike<JsonObject[string]> =>
  kind === "scalar" ? new Float64Array(length) : Array.from<JsonObject[string]>({ length });

function joinFrames(frames: readonly Frame[]): Frame {
  const prefixes = new Map<string, number>();
  const owners = frames.map((frame) => {
    const own = frame.prefixes.map((prefix) => {
      const owner = prefixes.get(prefix) ?? prefixes.size;
      prefixes.set(prefix, owner);
      return owner;
    });
    return Float64Array.from(frame.owners, (owner) => own[owner] ?? 0);
  });
  const all = (read: (frame: Frame) => ArrayLike<number>): Float64Array =>
    joinLists(frames.map(read));
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

export function joinLists(lists: readonly ArrayLike<number>[]): Float64Array {
  const joined = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const list of lists) {
    joined.set(list, end);
    end += list.length;
  }
  return joined;
}

/** The place of a report among those of its run. */
export type Place = Pick<StoredReport, "step" | "key">;

/**
 * Compares two reports by (step, key). Keys are compared by their numbers, then by their prefixes: so the reports of a
 * step are in the order in which their processes made them, and later tails and blocks follow earlier ones.
 */
export function inOrder(a: Place, b: Place): number {
  if (a.step !== b.step) return a.step - b.step;
  if (a.key === b.key) return 0;
  const [one, other] = [splitKey(a.key), splitKey(b.key)];
  return one.n - other.n || (one.prefix < other.prefix ? -1 : 1);
}

/** The places of the first and the last of the table's reports. */
export function placesOf({ frame }: Table): { readonly first: Place; readonly last: Place } {
  const placeAt = (index: number): Place => ({
    step: frame.steps[index] ?? 0,
    key: keyAt(frame, index),
  });
  let [first, last] = [0, 0];
  for (let i = 1; i < frame.steps.length; i += 1) {
    if (compareAt(frame, i, first) < 0) first = i;
    if (compareAt(frame, i, last) > 0) last = i;
  }
  return { first: placeAt(first), last: placeAt(last) };
}

/** Compares two reports of a frame as `inOrder` does. */
function compareAt({ steps, numbers, owners, prefixes }: Frame, a: number, b: number): number {
  const difference = (steps[a] ?? 0) - (steps[b] ?? 0) || (numbers[a] ?? -1) - (numbers[b] ?? -1);
  if (difference !== 0) return difference;
  const [one, other] = [prefixes[owners[a] ?? -1] ?? "", prefixes[owners[b] ?? -1] ?? ""];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The indexes of a table's reports in the order (step, key). */
export function orderOf({ frame }: Table): Uint32Array {
  const order = Uint32Array.from(frame.steps, (_, index) => index);
  const compare = (a: number, b: number): number => compareAt(frame, a, b);
  for (let i = 1; i < order.length; i += 1) if (compare(i - 1, i) > 0) return order.sort(compare);
  return order;
}

/** Selects the reports at these indexes, in the order of the indexes. */
export function takeReports({ frame, columns }: Table, indexes: Uint32Array): Table {
  const pick = (list: ArrayLike<number>): Float64Array => {
    const picked = new Float64Array(indexes.length);
    for (let i = 0; i < indexes.length; i += 1) picked[i] = list[indexes[i] ?? 0] ?? Number.NaN;
    return picked;
  };
  const places = new Int32Array(frame.steps.length).fill(-1);
  for (let place = 0; place < indexes.length; place += 1) places[indexes[place] ?? 0] = place;
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
  const placeOf = (point: number): number => places[positions?.[point] ?? point] ?? -1;
  if (positions === null) {
    const own = valueList(kind, indexes.length);
    for (let i = 0; i < indexes.length; i += 1) {
      own[i] = values[indexes[i] ?? 0] as JsonObject[string];
    }
    return columnOf(name, kind, null, own);
  }
  const points: number[] = [];
  for (let i = 0; i < positions.length; i += 1) if (placeOf(i) >= 0) points.push(i);
  points.sort((a, b) => placeOf(a) - placeOf(b));
  const own = valueList(kind, points.length);
  for (const [i, point] of points.entries()) own[i] = values[point] as JsonObject[string];
  return columnOf(name, kind, points.length === indexes.length ? null : points.map(placeOf), own);
}
