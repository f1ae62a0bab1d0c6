/**
 * Compares a live table with a temporary one of the same name, one range of keys at a time. A range is a page of the
 * side with more rows in it, so that surplus or missing rows do not enlarge a page.
 */
import { Fault } from "@trainyard/kernel";
import { escapeIdentifier, type PoolClient } from "pg";
import { shownBeside } from "./shown-beside.ts";
import type { ViewTable } from "../views/view-spec.ts";

type Column = { readonly name: string; readonly type: string; readonly keyPlace: number | null };

export type ComparedTable = {
  readonly name: string;
  readonly live: string;
  readonly beside: string;
  readonly keys: readonly Column[];
  readonly others: readonly Column[];
  readonly mayBeGone: string;
};

/** Reads the columns and the primary key from the database's catalogue. */
export async function comparedTable(
  client: PoolClient,
  schema: string,
  { name, mayBeGone }: ViewTable,
): Promise<ComparedTable> {
  const live = `${schema}.${name}`;
  const { rows: columns } = await client.query<Column>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
       array_position(i.indkey::int2[], a.attnum) as "keyPlace"
     from pg_attribute a
     left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
     order by "keyPlace", a.attnum`,
    [live],
  );
  const keys = columns.filter(({ keyPlace }) => keyPlace !== null);
  if (keys.length === 0) {
    throw new Fault("no_primary_key", `${live} has no primary key to compare by`, {
      retry: "never",
    });
  }
  const others = columns.filter(({ keyPlace }) => keyPlace === null);
  return {
    name,
    live,
    beside: `pg_temp.${name}`,
    keys,
    others,
    mayBeGone: mayBeGone ?? "false",
  };
}

const tuple = (parts: readonly string[]): string => `(${parts.join(", ")})`;
const namesOf = (columns: readonly Column[]): readonly string[] =>
  columns.map(({ name }) => escapeIdentifier(name));

/** Builds a condition on the key, with parameters from the given number on. */
function bound(keys: readonly Column[], operator: string, first: number): string {
  const values = keys.map(({ type }, index) => `$${first + index}::text::${type}`);
  return `${tuple(namesOf(keys))} ${operator} ${tuple(values)}`;
}

/** Returns the last key of the page after a key; null if fewer rows than a page remain. */
export async function pageEnd(
  client: PoolClient,
  { live, beside, keys }: ComparedTable,
  after: readonly string[] | null,
  rowsMax: number,
): Promise<readonly string[] | null> {
  const names = namesOf(keys).join(", ");
  const where = after === null ? "" : `where ${bound(keys, ">", 1)}`;
  const nth = (table: string) =>
    `(select ${names} from ${table} ${where} order by ${names} offset ${rowsMax - 1} limit 1)`;
  const { rows } = await client.query<{ key: string[] }>(
    `select array[${namesOf(keys)
      .map((name) => `${name}::text`)
      .join(", ")}] as key
     from (${nth(live)} union all ${nth(beside)}) ends order by ${names} limit 1`,
    [...(after ?? [])],
  );
  return rows[0]?.key ?? null;
}

type Row = Readonly<Record<string, unknown>> | null;

/** Describes the first row that differs in a range (after, up to and including); empty for none. */
export async function firstDifference(
  client: PoolClient,
  table: ComparedTable,
  after: readonly string[] | null,
  end: readonly string[] | null,
): Promise<string> {
  const { live, beside, keys, others, mayBeGone } = table;
  const from = after === null ? "true" : bound(keys, ">", 1);
  const upTo = end === null ? "true" : bound(keys, "<=", 1 + (after?.length ?? 0));
  const range = `${from} and ${upTo}`;
  const columns = [...namesOf(keys), ...namesOf(others)];
  const side = (alias: string) => tuple(columns.map((name) => `${alias}.${name}`));
  const key = namesOf(keys).join(", ");
  const missing = (alias: string) => `${alias}.${namesOf(keys)[0]} is null`;
  const { rows } = await client.query<{ live: Row; rebuilt: Row }>(
    `select case when ${missing("l")} then null else to_jsonb(l) end as live,
       case when ${missing("a")} then null else to_jsonb(a) - 'may_be_gone' end as rebuilt
     from (select * from ${live} where ${range}) l
     full join (select *, (${mayBeGone}) as may_be_gone from ${beside} where ${range}) a
       using ${tuple(namesOf(keys))}
     where ${side("l")} is distinct from ${side("a")}
       and not (${missing("l")} and a.may_be_gone)
     order by ${key} limit 1`,
    [...(after ?? []), ...(end ?? [])],
  );
  const row = rows[0];
  return row === undefined ? "" : told(table, row.live, row.rebuilt);
}

function told({ name, keys }: ComparedTable, live: Row, rebuilt: Row): string {
  const row = live ?? rebuilt ?? {};
  const key = keys.map((column) => `${column.name} ${JSON.stringify(row[column.name])}`).join(", ");
  const found = `the first row that differs is ${name} (${key})`;
  if (live === null) return `${found}: it is missing`;
  if (rebuilt === null) return `${found}: the log has no such row`;
  const differing = Object.keys(live).filter(
    (column) => JSON.stringify(live[column]) !== JSON.stringify(rebuilt[column]),
  );
  const pairs = differing.map((column) => {
    const [is, becomes] = shownBeside(
      JSON.stringify(live[column]),
      JSON.stringify(rebuilt[column]),
    );
    return `${column} is ${is}, but a rebuild has ${becomes}`;
  });
  return `${found}: ${pairs.join("; ")}`;
}
