/** Writes the tables of lists: a row for each document that is in a list, and the rows of its attributes. */
import type { Pool, PoolClient } from "pg";
import type { ListField, ListSpec } from "./core/lists/list-spec.ts";
import { experimentList, lists } from "./core/lists/lists.ts";
import type { Attribute } from "./core/views/attributes.ts";
import type { DocumentRow, DocumentSet } from "./core/views/documents.ts";
import { indexedText, wordsOf } from "./core/views/text.ts";

type Queryable = Pick<Pool | PoolClient, "query">;
type Names = (table: string) => string;

/** The tables of lists, without the table of attributes. */
export const listTables: readonly string[] = Object.values(lists).map(({ table }) => table);
export const attributesTable = "attributes";

export async function writeListRows(
  client: Queryable,
  documents: DocumentSet,
  table: Names,
): Promise<void> {
  const changed = documents.changed();
  for (const list of Object.values(lists) as readonly ListSpec[]) {
    const rows = changed.filter(({ kind }) => kind === list.kind);
    await removeRows(client, table(list.table), list, rows, documents);
    await writeRows(client, table(list.table), list, rows, documents);
    if (list.attributes === null) continue;
    await writeAttributes(client, table(attributesTable), list, rows, documents);
  }
}

const isListed = (list: ListSpec, { doc }: DocumentRow): boolean =>
  list.isListed?.(doc as never) ?? true;

/** Removes the rows of documents that are deleted or no longer in the list. */
async function removeRows(
  client: Queryable,
  table: string,
  list: ListSpec,
  rows: readonly DocumentRow[],
  documents: DocumentSet,
): Promise<void> {
  const gone = [
    ...rows.filter((row) => !isListed(list, row)),
    ...documents.dropped().filter(({ kind }) => kind === list.kind),
  ];
  if (gone.length === 0) return;
  await client.query(`delete from ${table} where id = any($1::text[])`, [gone.map(({ id }) => id)]);
}

const sqlTypes = { text: "text", number: "float8", time: "float8", boolean: "boolean" } as const;

async function writeRows(
  client: Queryable,
  table: string,
  list: ListSpec,
  rows: readonly DocumentRow[],
  documents: DocumentSet,
): Promise<void> {
  const written = rows.flatMap((row) => {
    if (!isListed(list, row)) return [];
    const values = valuesOf(list, row);
    const before = documents.fetched(row);
    const same =
      before !== undefined &&
      isListed(list, before) &&
      JSON.stringify(valuesOf(list, before)) === JSON.stringify(values);
    return same ? [] : [values];
  });
  if (written.length === 0) return;
  const columns = columnsOf(list);
  const names = columns.map(({ column }) => column).join(", ");
  const types = columns.map(({ column, type }) => `${column} ${sqlTypes[type]}`).join(", ");
  const sets = columns.map(({ column }) => `${column} = excluded.${column}`).join(", ");
  const texts = (from: string): string => `array(select jsonb_array_elements_text(x.${from}))`;
  await client.query(
    `insert into ${table} (id, scope, ordinal, labels, words, ${names})
     select x.id, x.scope, x.ordinal, ${texts("labels")}, array_to_tsvector(${texts("words")}),
       ${columns.map(({ column }) => `x.${column}`).join(", ")}
     from jsonb_to_recordset($1::jsonb)
       as x(id text, scope text, ordinal bigint, labels jsonb, words jsonb, ${types})
     on conflict (id) do update set scope = excluded.scope, ordinal = excluded.ordinal,
       labels = excluded.labels, words = excluded.words, ${sets}`,
    [JSON.stringify(written)],
  );
}

const columnsOf = (list: ListSpec): readonly ListField<never>[] =>
  list.fields.filter(({ column }) => column !== "ordinal");

/** Returns the columns of a row. */
function valuesOf(
  list: ListSpec,
  { id, parent, ordinal, doc }: DocumentRow,
): Record<string, unknown> {
  const values: Record<string, unknown> = {
    id,
    ordinal: Math.floor(ordinal),
    scope: list.scope(doc as never, parent),
    labels: (list.labels?.(doc as never) ?? []).map(indexedText),
    words: wordsOf(list.texts(doc as never)),
  };
  for (const { column, value, anyCase = false } of columnsOf(list)) {
    const found = value(doc as never);
    const text = typeof found === "string" ? indexedText(found) : null;
    // A number that is not finite would become null in JSON, so it is passed as text.
    values[column] = text === null ? (found ?? null) : anyCase ? text.toLowerCase() : text;
  }
  return values;
}

async function writeAttributes(
  client: Queryable,
  table: string,
  list: ListSpec,
  rows: readonly DocumentRow[],
  documents: DocumentSet,
): Promise<void> {
  const changed = rows.flatMap((row) => {
    const attributes = attributesOf(list, row);
    const before = documents.fetched(row);
    const same = before !== undefined && isSame(attributesOf(list, before), attributes);
    return same ? [] : [{ row, attributes }];
  });
  if (changed.length === 0) return;
  await client.query(`delete from ${table} where kind = $1 and id = any($2::text[])`, [
    list.kind,
    changed.map(({ row }) => row.id),
  ]);
  const written = changed.flatMap(({ row, attributes }) =>
    attributes.map((attribute) => ({ row, ...attribute })),
  );
  await client.query(
    `insert into ${table} (kind, scope, id, ordinal, name, number, text)
     select $1, * from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::float8[], $7::text[])`,
    [
      list.kind,
      written.map(({ row }) => list.scope(row.doc as never, row.parent)),
      written.map(({ row }) => row.id),
      written.map(({ row }) => Math.floor(row.ordinal)),
      written.map(({ name }) => name),
      written.map(({ number }) => number),
      written.map(({ text }) => text),
    ],
  );
}

/** Keeps each name once, because metrics and hyperparameters come from two lists. */
function attributesOf({ attributes }: ListSpec, { doc }: DocumentRow): readonly Attribute[] {
  const all = attributes === null ? [] : attributes(doc as never);
  return [...new Map(all.map((one) => [one.name, one])).values()];
}

function isSame(some: readonly Attribute[], others: readonly Attribute[]): boolean {
  return (
    some.length === others.length &&
    some.every((one, index) => {
      const other = others[index];
      return (
        one.name === other?.name && Object.is(one.number, other.number) && one.text === other.text
      );
    })
  );
}

/** Removes the rows of experiments. Those of their trials are removed later. */
export async function removeListRows(
  client: Queryable,
  experiments: readonly string[],
  table: Names,
): Promise<void> {
  const attributes = table(attributesTable);
  await client.query(`delete from ${attributes} where kind = 'experiment' and id = any($1)`, [
    experiments,
  ]);
  await client.query(`delete from ${table(experimentList.table)} where id = any($1)`, [
    experiments,
  ]);
}
