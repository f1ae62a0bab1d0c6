/**
 * Chooses the drawing of a reported value that is not a scalar. Scripts report plain JSON, so the structure of the JSON
 * decides. Numbers that are not finite are the texts NaN, Infinity and -Infinity.
 */

export type Cell = string;

export type Shape =
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly values: readonly number[] }
  | {
      readonly kind: "matrix";
      readonly rows: readonly (readonly number[])[];
      /** One label for each row and column; empty without labels. */
      readonly labels: readonly string[];
    }
  | {
      readonly kind: "histogram";
      readonly counts: readonly number[];
      /** Ascending edges, one more than counts. */
      readonly edges: readonly number[];
    }
  | {
      readonly kind: "table";
      readonly columns: readonly string[];
      readonly rows: readonly (readonly Cell[])[];
    }
  | { readonly kind: "json"; readonly text: string };

export function shapeOf(value: unknown): Shape {
  if (typeof value === "boolean") return { kind: "boolean", value };
  if (typeof value === "string") return { kind: "text", text: value };
  if (Array.isArray(value)) return shapeOfList(value) ?? asJson(value);
  if (isObject(value)) return shapeOfObject(value) ?? asJson(value);
  return asJson(value);
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const asJson = (value: unknown): Shape => ({ kind: "json", text: JSON.stringify(value, null, 2) });

function shapeOfList(values: readonly unknown[]): Shape | null {
  if (values.length === 0) return null;
  const list = numbers(values);
  if (list !== null) return { kind: "list", values: list };
  const rows = matrix(values);
  if (rows !== null) return { kind: "matrix", rows, labels: [] };
  if (values.every(isObject)) return tableOfRecords(values);
  return null;
}

/** The names that libraries give to the parts of these values, in order of preference. */
const names = {
  matrix: ["matrix", "confusion_matrix", "values", "counts", "data"],
  labels: ["labels", "classes", "class_names", "names"],
  edges: ["edges", "bin_edges", "bins"],
  counts: ["counts", "hist", "values", "histogram"],
  columns: ["columns"],
  rows: ["data", "rows"],
} as const;

function shapeOfObject(object: JsonObject): Shape | null {
  return (
    labelledMatrix(object) ?? histogram(object) ?? tableOfColumns(object) ?? tableOfValues(object)
  );
}

function part(object: JsonObject, of: keyof typeof names): unknown {
  const name = names[of].find((one) => Object.hasOwn(object, one));
  return name === undefined ? undefined : object[name];
}

function labelledMatrix(object: JsonObject): Shape | null {
  const rows = matrix(part(object, "matrix"));
  const labels = texts(part(object, "labels"));
  if (rows === null || labels === null || labels.length !== rows.length) return null;
  return rows[0]?.length === rows.length ? { kind: "matrix", rows, labels } : null;
}

function histogram(object: JsonObject): Shape | null {
  const edges = numbers(part(object, "edges"));
  const counts = numbers(part(object, "counts"));
  if (edges === null || counts === null || counts.length === 0) return null;
  const isAscending = edges.every((edge, index) => index === 0 || edge > (edges[index - 1] ?? 0));
  return edges.length === counts.length + 1 && isAscending
    ? { kind: "histogram", counts, edges }
    : null;
}

/** Reads {columns: [...], data: [[...], ...]}, pandas' format "split" for a frame. */
function tableOfColumns(object: JsonObject): Shape | null {
  const columns = texts(part(object, "columns"));
  const rows = part(object, "rows");
  if (columns === null || !Array.isArray(rows)) return null;
  const isTable = rows.every((row) => Array.isArray(row) && row.length === columns.length);
  if (!isTable) return null;
  return { kind: "table", columns, rows: (rows as unknown[][]).map((row) => row.map(cellOf)) };
}

/** Reads {precision: 0.5, recall: 0.7}, or {cat: {precision: 0.5}, dog: {precision: 0.6}}. */
function tableOfValues(object: JsonObject): Shape | null {
  const entries = Object.entries(object);
  if (entries.length === 0) return null;
  if (entries.every(([, value]) => isObject(value))) {
    const records = entries.map(([name, value]) => ({ "": name, ...(value as JsonObject) }));
    return tableOfRecords(records);
  }
  if (entries.some(([, value]) => typeof value === "object" && value !== null)) return null;
  return {
    kind: "table",
    columns: ["name", "value"],
    rows: entries.map(([name, value]) => [name, cellOf(value)]),
  };
}

function tableOfRecords(records: readonly JsonObject[]): Shape {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const rows = records.map((record) =>
    columns.map((column) => (Object.hasOwn(record, column) ? cellOf(record[column]) : "")),
  );
  return { kind: "table", columns, rows };
}

function cellOf(value: unknown): Cell {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  return value === "NaN" || value === "Infinity" || value === "-Infinity" ? Number(value) : null;
}

function numbers(value: unknown): readonly number[] | null {
  if (!Array.isArray(value)) return null;
  const read = value.map(numberOf);
  return read.includes(null) ? null : (read as number[]);
}

function texts(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const isPlain = value.every((one) => typeof one === "string" || typeof one === "number");
  return isPlain ? value.map(String) : null;
}

/** Returns at least one row of numbers, all of one length; null for other values. */
function matrix(value: unknown): readonly (readonly number[])[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const rows = value.map(numbers);
  const width = rows[0]?.length ?? 0;
  const isMatrix = width > 0 && rows.every((row) => row !== null && row.length === width);
  return isMatrix ? (rows as (readonly number[])[]) : null;
}
