/**
 * `yard log verify`: walks the hash chain, then folds the read model afresh into a table of its own and compares it row by
 * row with the live one, both at the same position. The live model is held still only for the last few events and the
 * comparison.
 */
import type { Plain } from "@trainyard/contracts";
import type { VerifyProgress } from "@trainyard/contracts/api";
import type { PoolClient } from "pg";
import type { StreamItem } from "../http/request-context.ts";
import type { Backend } from "./backend.ts";
import { DocumentStore } from "./document-store.ts";

const foldPage = 5_000;
/** Findings are listed up to this many: the first is what matters. */
const findingsMax = 20;

const progress = (message: Partial<Plain<VerifyProgress>>): StreamItem => ({
  id: "",
  message: { check: "", checked: "", done: false, ok: true, finding: "", ...message },
});

export async function* verifyLog(
  backend: Backend,
  skipViews: boolean,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  let findings = 0;
  for await (const { position, detail } of backend.parts.log.verify(0)) {
    findings += 1;
    yield progress({ check: "chain", checked: String(position), ok: false, finding: detail });
    if (findings >= findingsMax || signal.aborted) break;
  }
  yield progress({
    check: "chain",
    checked: String(await backend.parts.log.head()),
    ok: findings === 0,
  });
  if (!skipViews) {
    const difference = await verifyDocuments(backend, signal);
    if (difference.finding !== "") findings += 1;
    yield progress({ check: "gateway.documents", ok: difference.finding === "", ...difference });
  }
  yield progress({ check: "all", checked: backend.position, done: true, ok: findings === 0 });
}

async function verifyDocuments(
  backend: Backend,
  signal: AbortSignal,
): Promise<{ readonly checked: string; readonly finding: string }> {
  const client = await backend.parts.pool.connect();
  try {
    await client.query(
      "create temporary table afresh (like gateway.documents including indexes including defaults)",
    );
    const store = new DocumentStore("afresh");
    let position = await fold(backend, client, store, 0, backend.parts.view.position, signal);
    await client.query("begin");
    // The live model's next page waits for this row, so that both are compared at one position.
    const { rows } = await client.query<{ position: string }>(
      "select position from gateway.view_cursor where view = 'documents' for update",
    );
    const live = Number(rows[0]?.position ?? 0);
    position = await fold(backend, client, store, position, live, signal);
    const finding = await firstDifference(client);
    await client.query("commit");
    return { checked: String(position), finding };
  } catch (error) {
    await client.query("rollback").catch(() => {}); // The connection may be what failed.
    throw error;
  } finally {
    await client.query("drop table if exists afresh").catch(() => {}); // It goes with the connection anyway.
    client.release();
  }
}

async function fold(
  backend: Backend,
  client: PoolClient,
  store: DocumentStore,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<number> {
  let position = from;
  while (position < to && !signal.aborted) {
    const events = await backend.parts.log.readAll(position, Math.min(foldPage, to - position));
    if (events.length === 0) break;
    await store.apply(client, events);
    position = events.at(-1)?.position ?? position;
  }
  return position;
}

async function firstDifference(client: PoolClient): Promise<string> {
  const { rows } = await client.query<{
    kind: string;
    id: string;
    live: string | null;
    afresh: string | null;
  }>(
    `select coalesce(l.kind, a.kind) as kind, coalesce(l.id, a.id) as id, l.doc as live, a.doc as afresh
     from gateway.documents l full join afresh a using (kind, id)
     where (l.parent, l.ordinal, l.doc) is distinct from (a.parent, a.ordinal, a.doc)
     order by 1, 2 limit 1`,
  );
  const row = rows[0];
  if (row === undefined) return "";
  return `the first row that differs is ${row.kind} ${row.id}: live ${row.live ?? "has none"}, folded afresh ${row.afresh ?? "has none"}`;
}
