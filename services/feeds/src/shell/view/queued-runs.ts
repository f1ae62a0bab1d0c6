/** The rows of the runs that wait for their slots. A page of events is folded first, so it costs two statements. */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import { experimentKey, type TableNames } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import type { QueuePlace } from "../../core/queue-place.ts";

export type QueuedRun = QueuePlace & {
  /** The number of the run's experiment, or the id of its task. */
  readonly subject: string;
  readonly pool: string;
};

/** The events by which a run begins and ends to wait. */
const concerning: ReadonlySet<string> = new Set([
  "AllocationQueued",
  "AllocationGranted",
  "AllocationEnded",
]);

export const concernsQueue = ({ type }: Pick<StoredEvent, "type">): boolean =>
  concerning.has(shortNameOf(type));

export async function applyQueue(
  client: PoolClient,
  events: readonly StoredEvent[],
  table: TableNames,
): Promise<void> {
  const changed = new Map<string, QueuedRun | null>();
  for (const stored of events) {
    if (!concernsQueue(stored)) continue;
    const event = decodeEvent(stored);
    const run = idOf(stored.stream);
    const { timeMs: queuedAtMs } = stored;
    const waits = event.type === "AllocationQueued";
    const pool = waits ? (event.data.resources?.pool ?? "") : "";
    changed.set(run, waits ? { run, queuedAtMs, subject: experimentKey(stored), pool } : null);
  }
  if (changed.size === 0) return;
  const name = table("queued_runs");
  await client.query(`delete from ${name} where run = any($1)`, [[...changed.keys()]]);
  const rows = [...changed.values()].filter((row) => row !== null);
  if (rows.length === 0) return;
  await client.query(
    `insert into ${name} (run, subject, pool, queued_at_ms)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::float8[])`,
    [
      rows.map(({ run }) => run),
      rows.map(({ subject }) => subject),
      rows.map(({ pool }) => pool),
      rows.map(({ queuedAtMs }) => queuedAtMs),
    ],
  );
}

/** Returns the next runs behind a place, in the order in which they were queued. */
export async function queuedBehind(
  pool: Pool,
  { queuedAtMs, run }: QueuePlace,
  limit: number,
): Promise<readonly QueuedRun[]> {
  const { rows } = await pool.query<QueuedRun>(
    `select run, subject, pool, queued_at_ms as "queuedAtMs" from feeds.queued_runs
     where (queued_at_ms, run) > ($1, $2) order by queued_at_ms, run limit $3`,
    [queuedAtMs, run, limit],
  );
  return rows;
}
