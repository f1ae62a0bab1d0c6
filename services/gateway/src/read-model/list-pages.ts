/** Reads pages of lists from their rows. */
import type { Rights } from "@trainyard/access";
import { inTransaction } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import {
  type ConditionContext,
  conditionOf,
  namedColumn,
  seenExperiment,
} from "./core/lists/conditions.ts";
import { type Filter, termsOf } from "./core/lists/filter.ts";
import { type ColumnSql, type ListSpec, ownColumns } from "./core/lists/list-spec.ts";
import type { ListOrder } from "./core/lists/order.ts";
import { type ListPart, type ListPlace, partQuery, partsOf } from "./core/lists/page-query.ts";
import { SqlValues } from "./core/lists/sql-values.ts";
import { readModelLimits } from "./limits.ts";

export type ListQuery = {
  readonly list: ListSpec;
  readonly scope: string;
  readonly filter: Filter | null;
  readonly order: ListOrder;
  /** The time that relative times in the filter count from. */
  readonly nowMs: number;
  /** Columns whose value depends on more than the row, as SQL. */
  readonly columns: Readonly<Record<string, string>>;
  /** Whether the list has the deleted rows that can be restored, instead of the existing ones. */
  readonly deleted?: boolean;
  /** The rights of the caller. */
  readonly rights: Pick<Rights, "workspacesWith">;
};

export type ListTotal = { readonly rows: number; readonly isEstimate: boolean };

/** A list query exceeded its time limit. `term` is the filter's slowest condition; null without a filter. */
export class ListTooSlow extends Error {
  override readonly name = "ListTooSlow";
  readonly term: string | null;

  constructor(term: string | null) {
    super("a query of a list took longer than it may");
    this.term = term;
  }
}

const attributes = "gateway.attributes";
const users = "gateway.users";
const experimentRows = "gateway.experiment_rows";
const tableOf = ({ table }: ListSpec): string => `gateway.${table}`;

/**
 * Returns the places of at most `limit` rows after another place. Throws ListTooSlow, or a FilterError if the filter
 * does not fit the list.
 */
export async function listPlaces(
  pool: Pool,
  query: ListQuery,
  after: ListPlace | null,
  limit: number,
): Promise<readonly ListPlace[]> {
  return inTime(pool, query, async (client) => {
    const found: ListPlace[] = [];
    const parts = partsWith(query, new SqlValues()).length;
    for (let part = after?.part ?? 0; part < parts && found.length < limit; part += 1) {
      const behind = after?.part === part ? after : null;
      found.push(...(await readPart(client, query, part, behind, limit - found.length)));
    }
    return found;
  });
}

async function readPart(
  client: PoolClient,
  query: ListQuery,
  part: number,
  after: ListPlace | null,
  limit: number,
): Promise<readonly ListPlace[]> {
  const values = new SqlValues();
  const where = whereOf(query, values);
  const parts = partsWith(query, values, where.scope);
  const chosen = parts[part];
  if (chosen === undefined) return [];
  const asked = { where: where.sql, after, limit };
  const text = partQuery(tableOf(query.list), chosen, asked, values);
  type Row = { id: string; ordinal: string; key: ListPlace["key"] };
  const { rows } = await client.query<Row>(text, values.list());
  return rows.map(({ id, ordinal, key }) => ({ part, key, ordinal: Number(ordinal), id }));
}

function partsWith(query: ListQuery, values: SqlValues, scope = ""): readonly ListPart[] {
  const columns = columnsOf(query, values);
  return partsOf(query.list, query.order, { attributes, columns, scope }, values);
}

/** Returns the columns as answers show them to the caller. */
function columnsOf({ list, columns, rights }: ListQuery, values: SqlValues): ColumnSql {
  return (column) => {
    const field = list.fields.find((one) => one.column === column);
    const seen = field?.experiment === true ? rights.workspacesWith("experiment_view") : null;
    if (seen === null) return columns[column] ?? ownColumns(column);
    const workspaces = values.add(seen.map(keyOfWorkspace), "text[]");
    return seenExperiment(ownColumns(column), experimentRows, workspaces);
  };
}

/** Returns the columns of owners and actors as answers show them, by which lists are sorted. */
export const namedColumns = ({ fields }: ListSpec): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.flatMap(({ column, person }) =>
      person === true ? [[column, namedColumn(`r.${column}`, users)]] : [],
    ),
  );

function whereOf(
  query: ListQuery,
  values: SqlValues,
): { readonly sql: string; readonly scope: string } {
  const scope = values.add(query.scope, "text");
  const columns = columnsOf(query, values);
  const context: ConditionContext = { ...query, columns, attributes, users, values };
  const condition = query.filter === null ? "true" : conditionOf(query.filter, context);
  const canBeDeleted = query.list.fields.some(({ column }) => column === "deleted");
  const there = canBeDeleted ? `r.deleted is ${query.deleted === true} and ` : "";
  return { scope, sql: `r.scope = ${scope} and ${there}${seenRows(query, values)}${condition}` };
}

/** The condition that leaves out the rows that the caller may not see; empty for a list of which it sees all. */
function seenRows({ list, rights }: ListQuery, values: SqlValues): string {
  const sights = (list.sights ?? []).map(({ permission, in: within }) => {
    return { workspaces: rights.workspacesWith(permission), within };
  });
  if (sights.every(({ workspaces }) => workspaces === null)) return "";
  const seen = sights.map(({ workspaces, within }) => {
    const names = workspaces?.map(keyOfWorkspace) ?? null;
    return names === null ? within(everyWorkspace) : within(values.add(names, "text[]"));
  });
  return `(${seen.join(" or ")}) and `;
}

/** Rows have the names of workspaces in lower case. */
const keyOfWorkspace = (name: string): string => name.toLowerCase();

/** A caller may see the tasks of all workspaces and the experiments of some. */
const everyWorkspace = "array(select name from gateway.workspace_rows)";

/** Returns those of the ids that are in the list. */
export async function rowsAmong(
  pool: Pool,
  query: Omit<ListQuery, "order">,
  ids: readonly string[],
): Promise<readonly string[]> {
  const order: ListOrder = { descending: false, by: { kind: "place" } };
  return inTime(pool, { ...query, order }, async (client) => {
    const values = new SqlValues();
    const { sql } = whereOf({ ...query, order }, values);
    const { rows } = await client.query<{ id: string }>(
      `select r.id from ${tableOf(query.list)} r
       where r.id = any(${values.add(ids, "text[]")}) and ${sql}`,
      values.list(),
    );
    return rows.map(({ id }) => id);
  });
}

/** Returns the ids of at most `limit` rows in a scope; a null state means any state. */
export async function idsInState(
  pool: Pool,
  list: ListSpec,
  scope: string,
  state: string | null,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from ${tableOf(list)} where scope = $1 ${state === null ? "" : "and state = $3"} limit $2`,
    [scope, limit, ...(state === null ? [] : [state])],
  );
  return rows.map(({ id }) => id);
}

/** Counts the rows of the whole list up to a limit; beyond it returns PostgreSQL's estimate. */
export async function countRows(pool: Pool, query: ListQuery): Promise<ListTotal> {
  return inTime(pool, query, async (client) => {
    const values = new SqlValues();
    const { sql } = whereOf(query, values);
    const counted = `select from ${tableOf(query.list)} r where ${sql}`;
    const { rows } = await client.query<{ rows: string }>(
      `select count(*) as rows from (${counted} limit ${readModelLimits.countedRowsMax + 1}) counted`,
      values.list(),
    );
    const exact = Number(rows[0]?.rows ?? 0);
    if (exact <= readModelLimits.countedRowsMax) return { rows: exact, isEstimate: false };
    const { rows: expected } = await planOf(client, counted, values);
    return { rows: Math.max(expected, exact), isEstimate: true };
  });
}

async function planOf(
  client: PoolClient,
  text: string,
  values: SqlValues,
): Promise<{ readonly rows: number; readonly cost: number }> {
  type Plan = { readonly Plan: { readonly "Plan Rows": number; readonly "Total Cost": number } };
  const { rows } = await client.query<{ "QUERY PLAN": readonly Plan[] }>(
    `explain (format json) ${text}`,
    values.list(),
  );
  const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
  return { rows: plan?.["Plan Rows"] ?? 0, cost: plan?.["Total Cost"] ?? 0 };
}

async function inTime<Result>(
  pool: Pool,
  query: ListQuery,
  read: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query(
        `set transaction isolation level repeatable read, read only;
         set local statement_timeout = ${readModelLimits.listQueryMs}`,
      );
      return read(client);
    });
  } catch (error) {
    if (!isCanceled(error)) throw error;
    throw new ListTooSlow(await costliestTerm(pool, query));
  }
}

const isCanceled = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "57014";

/** Returns the term that PostgreSQL estimates as the most expensive one. */
async function costliestTerm(pool: Pool, query: ListQuery): Promise<string | null> {
  if (query.filter === null) return null;
  return inTransaction(pool, async (client) => {
    let costliest: { readonly source: string; readonly cost: number } | null = null;
    for (const term of termsOf(query.filter ?? { kind: "and", of: [] })) {
      const values = new SqlValues();
      const { sql } = whereOf({ ...query, filter: term }, values);
      const text = `select from ${tableOf(query.list)} r where ${sql}`;
      const { cost } = await planOf(client, text, values);
      if (costliest === null || cost > costliest.cost) costliest = { source: term.source, cost };
    }
    return costliest?.source ?? null;
  });
}

/** Returns the attributes of rows by id, as JSON values. */
export async function attributeValues(
  pool: Pool,
  { kind }: ListSpec,
  ids: readonly string[],
  names: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string | number>>>> {
  const found = new Map<string, Record<string, string | number>>();
  if (ids.length === 0 || names.length === 0) return found;
  type Row = { id: string; name: string; number: number | null; text: string | null };
  const { rows } = await pool.query<Row>(
    `select id, name, number, text from ${attributes}
     where kind = $1 and id = any($2::text[]) and name = any($3::text[])`,
    [kind, ids, names],
  );
  for (const { id, name, number, text } of rows) {
    const values = found.get(id) ?? {};
    // A protobuf Struct cannot hold infinities, so they are texts.
    values[name] =
      number === null || Number.isFinite(number) ? (number ?? text ?? "") : String(number);
    found.set(id, values);
  }
  return found;
}
