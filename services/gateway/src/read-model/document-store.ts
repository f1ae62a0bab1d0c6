import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { type Logger, View, type ViewSpec } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import {
  applyToContentUses,
  concernsContents,
  contentUsesTable,
  mayFreeContents,
} from "./content-uses.ts";
import { documentOfText, textOfDocument } from "./core/views/document-text.ts";
import {
  type DocumentKey,
  type DocumentKind,
  type DocumentRow,
  type Documents,
} from "./core/views/documents.ts";
import { isProjected, project } from "./core/views/project.ts";
import { addDefaultSpaces } from "./core/views/project-space.ts";
import { fetchTouched } from "./core/views/touched.ts";
import { readModelLimits } from "./limits.ts";
import { attributesTable, listTables, removeListRows, writeListRows } from "./list-rows.ts";
import { mayBeRemoved, removedTable } from "./removed.ts";
import { VersionFacts } from "./version-facts.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

type Stored = { kind: DocumentKind; id: string; parent: string; ordinal: string; doc: string };

function rowOf({ kind, id, parent, ordinal, doc }: Stored): DocumentRow {
  return { kind, id, parent, ordinal: Number(ordinal), doc: documentOfText(doc) } as DocumentRow;
}

/**
 * The gateway's read model, which folds events into the table of documents. `onFreed` is called when stored contents
 * may have become unused, and rows of removed experiments may be there.
 */
export function documentsView(
  pool: Pool,
  clock: Clock,
  logger: Logger,
  onFreed: () => void = () => {},
): View {
  const spec: ViewSpec = {
    schema: "gateway",
    view: "documents",
    version: 8,
    tables: ["documents", "version_facts", contentUsesTable, attributesTable, ...listTables]
      .map((name) => ({ name, ...mayBeRemoved(name) }))
      .concat({ name: removedTable, mayBeGone: "true" }),
    // The default workspace and project are written with the first event.
    concerns: (event) =>
      event.position === 1 || isProjected(shortNameOf(event.type)) || concernsContents(event),
    apply: (client, events, table) => new DocumentStore(table).apply(client, events),
    // After a rebuild there are no events, and the rows of removed experiments are there again.
    after: (events) => {
      if (events.length === 0 || events.some(mayFreeContents)) onFreed();
    },
  };
  return new View(spec, pool, clock, logger);
}

export type ListOptions = {
  readonly parent?: string;
  /** The ordinal and id of the last row of the previous page. */
  readonly after?: { readonly ordinal: number; readonly id: string };
  readonly limit: number;
  readonly newestFirst?: boolean;
  /** Selects only documents whose field has this value. The value must have no character that JSON escapes. */
  readonly field?: { readonly name: string; readonly value: string };
};

/** A table of documents: the live one, or one into which the log is folded for a rebuild. */
export class DocumentStore {
  readonly #names: (table: string) => string;
  readonly #table: string;
  readonly #facts: VersionFacts;

  constructor(names = (table: string): string => `gateway.${table}`) {
    this.#names = names;
    this.#table = names("documents");
    this.#facts = new VersionFacts(names("version_facts"));
  }

  /** Folds a page of events into the table. */
  async apply(client: Queryable, events: readonly StoredEvent[]): Promise<void> {
    const decoded = events.map((stored) => ({ stored, event: decodeEvent(stored) }));
    const documents = await fetchTouched(
      decoded.map(({ stored, event }) => ({ stream: stored.stream, event })),
      (keys) => this.fetch(client, keys),
    );
    if (events[0]?.position === 1) addDefaultSpaces(documents);
    for (const { stored, event } of decoded) project(stored, event, documents);
    const changed = documents.changed();
    await this.#upsert(client, changed);
    await writeListRows(client, documents, this.#names);
    for (const { stored, event } of decoded) {
      await applyToContentUses(client, this.#names(contentUsesTable), stored.stream, event);
    }
    await this.#removeExperiments(client, documents.removed());
    await this.#remove(client, documents.dropped());
    await this.#facts.replace(
      client,
      changed.flatMap((row) => (row.kind === "version" ? [row.doc] : [])),
    );
  }

  async fetch(client: Queryable, keys: readonly DocumentKey[]): Promise<readonly DocumentRow[]> {
    if (keys.length === 0) return [];
    const { rows } = await client.query<Stored>(
      `select d.kind, d.id, d.parent, d.ordinal, d.doc from ${this.#table} d
       join unnest($1::text[], $2::text[]) as wanted(kind, id) using (kind, id)`,
      [keys.map(({ kind }) => kind), keys.map(({ id }) => id)],
    );
    return rows.map(rowOf);
  }

  /**
   * Returns the existing documents of these ids, in their order, until they have more than a page's bytes, and how many
   * of the ids the page has reached.
   */
  async fetchPage<Kind extends DocumentKind>(
    client: Queryable,
    kind: Kind,
    ids: readonly string[],
  ): Promise<{ readonly rows: readonly DocumentRow<Kind>[]; readonly reached: number }> {
    const { rows } = await client.query<
      Stored & { readonly place: string; readonly fits: boolean }
    >(
      `with found as (
         select wanted.place, d.*, sum(octet_length(d.doc)) over (order by wanted.place) as bytes,
           row_number() over (order by wanted.place) as row
         from unnest($2::text[]) with ordinality as wanted(id, place)
         join ${this.#table} d on d.kind = $1 and d.id = wanted.id)
       select place, kind, id, parent, ordinal, bytes <= $3 or row = 1 as fits,
         case when bytes <= $3 or row = 1 then doc end as doc
       from found order by place`,
      [kind, ids, readModelLimits.pageBytes],
    );
    const beyond = rows.find(({ fits }) => !fits);
    return {
      rows: rows.filter(({ fits }) => fits).map((row) => rowOf(row) as DocumentRow<Kind>),
      reached: beyond === undefined ? ids.length : Number(beyond.place) - 1,
    };
  }

  async #removeExperiments(client: Queryable, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await client.query(
      `delete from ${this.#table} where kind in ('experiment', 'config', 'leaders') and id = any($1)`,
      [ids],
    );
    await removeListRows(client, ids, this.#names);
    await client.query(
      `insert into ${this.#names(removedTable)} select unnest($1::text[]) on conflict do nothing`,
      [ids],
    );
  }

  async #remove(client: Queryable, keys: readonly DocumentKey[]): Promise<void> {
    if (keys.length === 0) return;
    await client.query(
      `delete from ${this.#table} d using unnest($1::text[], $2::text[]) as gone(kind, id)
       where d.kind = gone.kind and d.id = gone.id`,
      [keys.map(({ kind }) => kind), keys.map(({ id }) => id)],
    );
  }

  async #upsert(client: Queryable, rows: readonly DocumentRow[]): Promise<void> {
    if (rows.length === 0) return;
    await client.query(
      `insert into ${this.#table} (kind, id, parent, ordinal, doc)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[])
       on conflict (kind, id) do update
       set parent = excluded.parent, ordinal = excluded.ordinal, doc = excluded.doc`,
      [
        rows.map(({ kind }) => kind),
        rows.map(({ id }) => id),
        rows.map(({ parent }) => parent),
        rows.map(({ ordinal }) => Math.floor(ordinal)),
        rows.map(({ doc }) => textOfDocument(doc)),
      ],
    );
  }

  async get<Kind extends DocumentKind>(
    client: Queryable,
    kind: Kind,
    id: string,
  ): Promise<Documents[Kind] | undefined> {
    const [row] = await this.fetch(client, [{ kind, id }]);
    return row?.doc as Documents[Kind] | undefined;
  }

  /**
   * Returns a page of a list, in order. PostgreSQL cannot parse JSON with \u0000 or half a surrogate pair in a string,
   * so the query replaces all escapes.
   */
  async list<Kind extends DocumentKind>(
    client: Queryable,
    kind: Kind,
    options: ListOptions,
  ): Promise<readonly DocumentRow<Kind>[]> {
    const order = options.newestFirst === true ? "desc" : "asc";
    const beyond = options.newestFirst === true ? "<" : ">";
    const { rows } = await client.query<Stored>(
      `select kind, id, parent, ordinal, doc from ${this.#table}
       where kind = $1 and ($2::text is null or parent = $2)
         and ($3::bigint is null or (ordinal, id) ${beyond} ($3, $4))
         and ($6::text is null or regexp_replace(doc, '\\\\.', '_', 'g')::json ->> $6 = $7)
       order by ordinal ${order}, id ${order} limit $5`,
      [
        kind,
        options.parent ?? null,
        options.after?.ordinal ?? null,
        options.after?.id ?? null,
        options.limit,
        options.field?.name ?? null,
        options.field?.value ?? null,
      ],
    );
    return rows.map((row) => rowOf(row) as DocumentRow<Kind>);
  }

  /** Returns ids after one that begin with these digits or hyphens, at most `limit`, sorted. */
  async idsBeginningWith(
    client: Queryable,
    kind: DocumentKind,
    digits: string,
    { after, limit }: { readonly after: string; readonly limit: number },
  ): Promise<readonly string[]> {
    const { rows } = await client.query<{ id: string }>(
      `select id from ${this.#table} where kind = $1 and id >= $2 and id < $3 and id > $5
       order by id limit $4`,
      // No digit of an id is after f.
      [kind, digits, `${digits}g`, limit, after],
    );
    return rows.map(({ id }) => id);
  }

  /** Yields all documents of a list, in order; they are fetched in pages. */
  async *each<Kind extends DocumentKind>(
    client: Queryable,
    kind: Kind,
    options: Pick<ListOptions, "parent">,
  ): AsyncGenerator<Documents[Kind]> {
    const limit = readModelLimits.pageSizeMax;
    for (let rows = await this.list(client, kind, { ...options, limit }); ; ) {
      for (const { doc } of rows) yield doc;
      const after = rows.at(-1);
      if (after === undefined || rows.length < limit) return;
      rows = await this.list(client, kind, { ...options, limit, after });
    }
  }
}
