/** Pages of lists: rows are filtered, sorted and counted, and the answer is made from documents. */
import { createHash } from "node:crypto";
import { isStorable } from "@trainyard/kernel";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";
import { conditionOf } from "../read-model/core/lists/conditions.ts";
import {
  comparison,
  type Filter,
  FilterError,
  readFilter,
  termsOf,
} from "../read-model/core/lists/filter.ts";
import { type ListSpec, ownColumns } from "../read-model/core/lists/list-spec.ts";
import { readOrder } from "../read-model/core/lists/order.ts";
import { isPlaceOf, type ListPlace } from "../read-model/core/lists/page-query.ts";
import { SqlValues } from "../read-model/core/lists/sql-values.ts";
import type { DocumentKind, Documents } from "../read-model/core/views/documents.ts";
import { readModelLimits } from "../read-model/limits.ts";
import {
  countRows,
  type ListQuery,
  ListTooSlow,
  listPlaces,
  namedColumns,
} from "../read-model/list-pages.ts";
import { inTurn } from "./in-turn.ts";
import { pageSize } from "./paging.ts";

export type ListRequest = {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly minPosition: string;
  readonly filter: string;
  readonly orderBy: string;
  readonly count: boolean;
};

/** The whole list, in its default order. */
export const wholeList: Omit<ListRequest, "pageToken"> = {
  pageSize: readModelLimits.pageSizeMax,
  minPosition: "",
  filter: "",
  orderBy: "",
  count: false,
};

export type ListScope = {
  /** The request, which waits for its turn among the lists of its caller. */
  readonly context: Pick<RequestContext, "caller" | "rights" | "signal">;
  /** The experiment or workspace that the list belongs to; empty for a list without a parent. */
  readonly scope?: string;
  /** Conditions from other parameters of the request, all of which must be true. */
  readonly conditions?: readonly Filter[];
  /** Columns whose value depends on more than the row, as SQL. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Whether the list has the deleted rows that can be restored, instead of the existing ones. */
  readonly deleted?: boolean;
};

export type ListPage<Kind extends DocumentKind> = {
  readonly items: readonly Documents[Kind][];
  readonly nextPageToken: string;
  readonly position: string;
  readonly total?: number;
  readonly totalIsEstimate?: boolean;
};

/** Returns a page of a list. Throws a Problem of 400 for an unknown field or an invalid filter. */
export async function rowsPage<Kind extends DocumentKind>(
  backend: Backend,
  list: ListSpec<Kind>,
  asked: ListRequest,
  { context, scope = "", conditions = [], columns: ofScope = {}, deleted = false }: ListScope,
): Promise<ListPage<Kind>> {
  await backend.reachText(asked.minPosition);
  const { pool, documents, clock, listQueries, directory } = backend.parts;
  const spec: ListSpec = list;
  // Without users all rows have one owner, so their order by name is any order.
  const columns = directory.isEmpty ? ofScope : { ...ofScope, ...namedColumns(spec) };
  const filter = inWords(() => allOf(readFilter(asked.filter), conditions));
  const order = readOrder(spec, asked.orderBy);
  if (typeof order === "string") throw refusal(`order_by: ${order}`);
  const digest = digestOf([list.kind, deleted, scope, asked.filter, asked.orderBy, conditions]);
  const start = readToken(asked.pageToken, digest);
  if (start !== null && !isPlaceOf(spec, order, start.place)) throw madeUpToken();
  const nowMs = start?.nowMs ?? clock.nowMs();
  const { rights } = context;
  const query: ListQuery = { list: spec, scope, filter, order, nowMs, columns, deleted, rights };
  const size = pageSize(asked.pageSize);
  const position = backend.position;
  const read = async () => {
    // The query fetches one row more than a page, to see whether another page follows.
    const places = await listPlaces(pool, query, start?.place ?? null, size + 1);
    const ids = places.slice(0, size).map(({ id }) => id);
    const found = await documents.fetchPage(pool, list.kind, ids);
    return { places, ...found, total: asked.count ? await countRows(pool, query) : null };
  };
  const { places, rows, reached, total } = await inTurn(listQueries, context, () => readable(read));
  const last = places[reached - 1];
  return {
    items: rows.map(({ doc }) => doc),
    nextPageToken:
      places.length > reached && last !== undefined ? tokenOf({ digest, nowMs, place: last }) : "",
    position,
    ...(total === null ? {} : { total: total.rows, totalIsEstimate: total.isEstimate }),
  };
}

/**
 * Returns the columns that depend on a parent: trials of a paused experiment are paused, projects of an archived
 * workspace are archived.
 */
export async function shownColumns(
  backend: Backend,
  { kind }: Pick<ListSpec, "kind">,
  scope: string,
): Promise<Readonly<Record<string, string>>> {
  if (kind === "trial") {
    const { state } = await backend.get("experiment", scope);
    return state === "PAUSED" ? { state: pausedState } : {};
  }
  if (kind !== "project") return {};
  const { archived } = await backend.get("workspace", scope);
  return archived ? { archived: "(r.archived or true)" } : {};
}

const pausedState = "(case r.state when 'ACTIVE' then 'PAUSED' else r.state end)";

/** Returns the condition that leaves out archived rows, unless they are requested or the filter mentions them. */
export function withoutArchived(asked: { readonly filter: string; readonly archived: boolean }) {
  const filter = inWords(() => readFilter(asked.filter));
  const terms = filter === null ? [] : termsOf(filter);
  const named = terms.some((term) => term.kind === "comparison" && term.field === "archived");
  return asked.archived || named ? [] : [comparison("archived", "!=", "true")];
}

/** Throws a FilterError if the filter has an unknown field or an impossible comparison. */
export function requireKnown(filter: Filter, list: ListSpec): void {
  conditionOf(filter, {
    list,
    attributes: "",
    users: "",
    values: new SqlValues(),
    nowMs: 0,
    columns: ownColumns,
  });
}

/** Combines a filter and conditions; null if both are empty. */
export function allOf(filter: Filter | null, conditions: readonly Filter[]): Filter | null {
  const of = filter === null ? conditions : [...conditions, filter];
  return of.length === 0 ? null : { kind: "and", of };
}

function inWords<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof FilterError ? refusal(error.message) : error;
  }
}

/** Runs a query of a list. Throws a Problem of 400 for an invalid filter, or for a query that takes too long. */
export async function readable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FilterError) throw refusal(error.message);
    if (!(error instanceof ListTooSlow)) throw error;
    const cost = error.term === null ? "its order" : `the condition ${JSON.stringify(error.term)}`;
    const detail = `the query took too long; ${cost} is its slowest part: narrow it down`;
    throw new Problem(400, "query_too_slow", detail);
  }
}

const refusal = (detail: string): Problem => new Problem(400, "invalid_filter", detail);

const digestOf = (what: unknown): string =>
  createHash("sha256").update(JSON.stringify(what)).digest("base64url").slice(0, 16);

type Start = { readonly digest: string; readonly nowMs: number; readonly place: ListPlace };

/** Makes an opaque page token: where the next page begins, and in which list. */
function tokenOf({ digest, nowMs, place: { part, key, ordinal, id } }: Start): string {
  const typed = typeof key === "number" ? { number: String(key) } : { value: key };
  return Buffer.from(JSON.stringify([digest, nowMs, part, typed, ordinal, id])).toString(
    "base64url",
  );
}

function readToken(token: string, digest: string): Start | null {
  if (token === "") return null;
  const read = parseToken(token);
  if (read === null) throw madeUpToken();
  if (read.digest === digest) return read;
  const detail = "the page_token is of another list: ask for the first page of this one without it";
  throw new Problem(400, "invalid_request", detail);
}

const madeUpToken = (): Problem => new Problem(400, "invalid_request", "invalid page_token");

function parseToken(token: string): Start | null {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    if (!Array.isArray(read) || read.length !== 6) return null;
    const [digest, nowMs, part, typed, ordinal, id] = read as unknown[];
    const key = keyOf(typed);
    const isPlace =
      typeof digest === "string" &&
      typeof nowMs === "number" &&
      (part === 0 || part === 1 || part === 2) &&
      key !== undefined &&
      Number.isSafeInteger(ordinal) &&
      typeof id === "string" &&
      isStorable(id);
    if (!isPlace) return null;
    return { digest, nowMs, place: { part, key, ordinal: Number(ordinal), id } };
  } catch {
    return null;
  }
}

/** Returns the sort key in a token; undefined for a value that no token has. */
function keyOf(typed: unknown): ListPlace["key"] | undefined {
  if (typeof typed !== "object" || typed === null) return undefined;
  const { number, value } = typed as { readonly number?: unknown; readonly value?: unknown };
  if (typeof number === "string") return Number(number);
  if (value === null || typeof value === "boolean") return value;
  return typeof value === "string" && isStorable(value) ? value : undefined;
}
