/**
 * The statements that read a page of a list. A sorted list is read in consecutive parts: rows with a number, rows with
 * a text, and rows without the value. So each part is a range of one index.
 */
import { type ColumnSql, type FieldType, type ListSpec, ownColumns } from "./list-spec.ts";
import type { ListOrder } from "./order.ts";
import { SqlValues } from "./sql-values.ts";

/** The end of a page: the part of the list, and the last row's value, ordinal and id. */
export type ListPlace = {
  readonly part: number;
  /** The value of the sorted field; null in a part in the list's default order. */
  readonly key: string | number | boolean | null;
  readonly ordinal: number;
  readonly id: string;
};

export type ListPart = {
  readonly join: string;
  readonly where: string;
  /** The value by which the part is sorted; null for the list's default order. */
  readonly key: { readonly sql: string; readonly type: string } | null;
  /** The columns with the ordinal and the id. */
  readonly place: string;
  readonly descending: boolean;
};

type Tables = {
  readonly attributes: string;
  readonly columns: ColumnSql;
  /** The list's scope, as SQL. */
  readonly scope: string;
};

const sqlTypes: Readonly<Record<FieldType, string>> = {
  text: "text",
  number: "float8",
  time: "float8",
  boolean: "boolean",
};

export function partsOf(
  list: ListSpec,
  { by, descending }: ListOrder,
  { attributes, columns, scope }: Tables,
  values: SqlValues,
): readonly ListPart[] {
  const own = { place: "r.ordinal, r.id", descending: list.newestFirst };
  if (by.kind === "place") return [{ join: "", where: "true", key: null, ...own, descending }];
  if (by.kind === "column") {
    const sql = columns(by.column);
    const key = { sql, type: sqlTypes[by.type] };
    return [
      { join: "", where: `${sql} is not null`, key, place: own.place, descending },
      { join: "", where: `${sql} is null`, key: null, ...own },
    ];
  }
  const [kind, name] = [values.add(list.kind, "text"), values.add(by.name, "text")];
  const of = `a.kind = ${kind} and a.name = ${name} and a.id = r.id`;
  const sorted = (column: string, type: string): ListPart => ({
    join: `join ${attributes} a on ${of}`,
    where: `a.scope = ${scope} and a.${column} is not null`,
    key: { sql: `a.${column}`, type },
    place: "a.ordinal, a.id",
    descending,
  });
  const without = `not exists (select from ${attributes} a where ${of})`;
  return [
    sorted("number", "float8"),
    sorted("text", "text"),
    { join: "", where: without, key: null, ...own },
  ];
}

/** Whether a place in a page token is possible in this order of the list. */
export function isPlaceOf(list: ListSpec, order: ListOrder, { part, key }: ListPlace): boolean {
  const parts = partsOf(
    list,
    order,
    { attributes: "", columns: ownColumns, scope: "" },
    new SqlValues(),
  );
  const type = parts[part]?.key?.type;
  const typeOfKey = { text: "string", float8: "number", boolean: "boolean" }[type ?? ""];
  return (
    parts[part] !== undefined && (key === null ? type === undefined : typeof key === typeOfKey)
  );
}

/** Makes the query for at most `limit` rows of one part, after a place. */
export function partQuery(
  table: string,
  part: ListPart,
  asked: {
    /** The scope and the filter, as SQL. */
    readonly where: string;
    readonly after: ListPlace | null;
    readonly limit: number;
  },
  values: SqlValues,
): string {
  const { key, place, join } = part;
  const direction = part.descending ? "desc" : "asc";
  const order = [...(key === null ? [] : [key.sql]), ...place.split(", ")];
  const behind = asked.after === null ? "true" : behindOf(part, order, asked.after, values);
  return `select r.id, r.ordinal, ${key === null ? "null" : key.sql} as key from ${table} r ${join}
    where ${asked.where} and ${part.where} and ${behind}
    order by ${order.map((sql) => `${sql} ${direction}`).join(", ")} limit ${asked.limit}`;
}

function behindOf(
  { key, descending }: ListPart,
  order: readonly string[],
  after: ListPlace,
  values: SqlValues,
): string {
  const given = [
    ...(key === null ? [] : [values.add(after.key, key.type)]),
    values.add(after.ordinal, "bigint"),
    values.add(after.id, "text"),
  ];
  return `(${order.join(", ")}) ${descending ? "<" : ">"} (${given.join(", ")})`;
}
