/** The SQL statements of reads. Positions and versions are numbers; bodies have their exact stored text. */
import type { Pool } from "pg";
import { Fault } from "@trainyard/kernel";
import { logLimits } from "../limits.ts";
import type {
  CommitMeta,
  CursorState,
  ParkedRow,
  SomeEvents,
  SomeStreams,
  StoredEvent,
} from "../port.ts";
import { faultOf } from "./faults.ts";

type EventRow = [
  position: number,
  version: number,
  id: string,
  type: string,
  body: string | null,
  timeMs: number | null,
  commitId: string,
  meta: string,
];

/**
 * A page of the log is one result with two kinds of rows: events, whose `timeMs` is null, and commits, whose `stream`
 * is null.
 */
type PageRow = [
  position: number,
  stream: string | null,
  version: number,
  id: string,
  type: string,
  body: string | null,
  timeMs: number | null,
  meta: string,
];

/**
 * Searches all partitions, for a log with few of them. The left join is deliberate: an event whose commit row is
 * missing must be reported as corruption.
 */
const readStreamStatement = `select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta
  from log.events e left join log.commits c on c.position = e.commit_position
  where e.stream = $1 and e.version > $2 order by e.version limit $3`;

/** First finds the partitions that contain the stream, then reads only these: faster in a log with many partitions. */
const readFromManyStatement = `select position, version, id, type, body, time_ms, commit_id, meta
  from log.read_stream($1, $2, $3)`;

/**
 * Each commit is read and sent once, however many events it has. One statement gives both from the same snapshot.
 * Positions have no gaps, so the page ends at $1 + $2 at the latest, and so do all of its commits except perhaps the
 * last.
 */
const readAllStatement = `(
    select position, stream, version, id, type, body, null::bigint, null::text
    from log.events where position > $1 order by position limit $2
  ) union all (
    select position, null, null, commit_id, null, null, time_ms, meta
    from log.commits where position > $1 and position < $1 + $2 order by position
  ) union all (
    select position, null, null, commit_id, null, null, time_ms, meta
    from log.commits where position >= $1 + $2 order by position limit 1
  )`;

/** Scans the given number of positions by index; events of other streams are not sent. */
const readSomeStatement = `select head.position, e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta, e.stream
  from (select coalesce(max(position), 0) as position from log.commits) as head
  left join log.events e on e.position > $1 and e.position <= $1::bigint + $2::bigint and e.position <= head.position
    and (e.stream = any($3::text[]) or exists (
      select from unnest($4::text[]) as asked (beginning) where starts_with(e.stream, asked.beginning)))
  left join log.commits c on c.position = e.commit_position
  order by e.position`;

/** A prefix is a range of the key: the character after the last of the prefix ends it. */
const positionsStatement = `with asked as (
    select stream, first_partition, last_partition from log.streams where stream = any($1::text[])
    union
    select s.stream, s.first_partition, s.last_partition from unnest($2::text[]) as b (beginning)
    join log.streams s on s.stream >= b.beginning and s.stream < b.beginning || chr(1114111)
  )
  select e.position from asked join log.events e on e.stream = asked.stream
  where e.position > $3 order by e.position`;

const readAtStatement = `select e.position, e.version, e.id, e.type, e.body, c.time_ms, c.commit_id, c.meta, e.stream
  from log.events e left join log.commits c on c.position = e.commit_position
  where e.position = any($1::bigint[]) order by e.position`;

/** The head and an event with its stream; the event's position is null if there is no event. */
type SomeRow = [head: number, ...event: EventRow, stream: string] | [head: number, none: null];

/** Consecutive commits often share their attributes, which are then parsed once. */
class Metas {
  #text = "";
  #meta = {} as CommitMeta;

  parse(text: string): CommitMeta {
    if (text !== this.#text) {
      this.#meta = JSON.parse(text) as CommitMeta;
      this.#text = text;
    }
    return this.#meta;
  }
}

/** Returns one string object per type, so that its hash is computed once, not for each event. */
const types = new Map<string, string>();

function internedType(type: string): string {
  const known = types.get(type);
  if (known !== undefined) return known;
  types.set(type, type);
  return type;
}

/** The body of an erased event: the position stays, and the content is the empty message. */
const erasedBody = "{}";

function eventsOfStream(stream: string, rows: readonly EventRow[]): StoredEvent[] {
  const metas = new Metas();
  return rows.map((row) => {
    if (row[5] === null) throw hole(row[0]);
    return {
      position: row[0],
      stream,
      version: row[1],
      id: row[2],
      type: internedType(row[3]),
      timeMs: row[5],
      commitId: row[6],
      meta: metas.parse(row[7]),
      body: row[4] ?? erasedBody,
    };
  });
}

const isCommit = (row: PageRow): boolean => row[1] === null;
const inPageOrder = (a: PageRow, b: PageRow): number =>
  Number(isCommit(a)) - Number(isCommit(b)) || a[0] - b[0];

/** Joins the events of a page with the attributes of their commits. */
function eventsOfPage(afterPosition: number, rows: PageRow[]): StoredEvent[] {
  // The rows usually come in this order, but the statement does not guarantee it.
  rows.sort(inPageOrder);
  const firstCommit = rows.findIndex(isCommit);
  const count = firstCommit < 0 ? rows.length : firstCommit;
  const metas = new Metas();
  const events: StoredEvent[] = [];
  let at = count;
  for (let index = 0; index < count; index += 1) {
    const row = rows[index] as PageRow;
    const position = row[0];
    while (at < rows.length && (rows[at] as PageRow)[0] < position) at += 1;
    const commit = rows[at];
    if (position !== afterPosition + index + 1 || commit === undefined) throw hole(position);
    events.push({
      position,
      stream: row[1] as string,
      version: row[2],
      id: row[3],
      type: internedType(row[4]),
      timeMs: commit[6] as number,
      commitId: commit[3],
      meta: metas.parse(commit[7]),
      body: row[5] ?? erasedBody,
    });
  }
  return events;
}

const hole = (position: number): Fault =>
  new Fault(
    "log_broken",
    `something is missing before or at position ${position}: verify the log`,
    {
      retry: "never",
    },
  );

export class Reader {
  readonly #pool: Pool;
  /** Prefetched pages, by position and limit. */
  readonly #ahead = new Map<string, Promise<StoredEvent[]>>();
  #streamsRead = 0;
  #hasManyPartitions = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async rows<Row extends unknown[]>(
    name: string,
    text: string,
    values: unknown[],
    doing: string,
  ): Promise<Row[]> {
    try {
      const result = await this.#pool.query<Row>({ name, text, values, rowMode: "array" });
      return result.rows;
    } catch (error) {
      throw faultOf(error, doing);
    }
  }

  async read(stream: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    const values = [stream, afterVersion, limit];
    const doing = `reading ${stream}`;
    const many = await this.#manyPartitions();
    const rows = await (many
      ? this.rows<EventRow>("read_from_many", readFromManyStatement, values, doing)
      : this.rows<EventRow>("read", readStreamStatement, values, doing));
    return eventsOfStream(stream, rows);
  }

  /** The answer is refreshed only every `readsPerLook` reads: a log takes long to fill a partition. */
  async #manyPartitions(): Promise<boolean> {
    this.#streamsRead += 1;
    if (this.#streamsRead % logLimits.readsPerLook !== 1) return this.#hasManyPartitions;
    const text =
      "select count(*)::integer from pg_inherits where inhparent = 'log.events'::regclass";
    const rows = await this.rows<[number]>("partitions", text, [], "counting partitions");
    this.#hasManyPartitions = (rows[0]?.[0] ?? 0) > logLimits.fewPartitions;
    return this.#hasManyPartitions;
  }

  async lastVersion(stream: string): Promise<number> {
    const text = "select version from log.events where stream = $1 order by version desc limit 1";
    const doing = `looking up the last version of ${stream}`;
    const rows = await this.rows<[number]>("last_version", text, [stream], doing);
    return rows[0]?.[0] ?? 0;
  }

  /**
   * Prefetches for sequential readers (a rebuild, a relay that catches up): after a full page the next one is requested
   * at once. A prefetched page is used only if it is full, so no newer commit is missed.
   */
  async readAll(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    const ahead = this.#takeAhead(afterPosition, limit);
    const early = await ahead?.catch(() => undefined); // A failed prefetch is read again.
    const full = early?.length === limit;
    const events = full ? early : await this.#readPage(afterPosition, limit);
    const last = events.at(-1);
    if (last !== undefined && events.length === limit && limit >= logLimits.pageAheadFrom) {
      this.#readAhead(last.position, limit);
    }
    return events;
  }

  #takeAhead(afterPosition: number, limit: number): Promise<StoredEvent[]> | undefined {
    const key = `${afterPosition}/${limit}`;
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead;
  }

  #readAhead(afterPosition: number, limit: number): void {
    if (this.#ahead.size >= logLimits.pagesAheadMax) {
      for (const oldest of this.#ahead.keys()) {
        this.#ahead.delete(oldest);
        break;
      }
    }
    const page = this.#readPage(afterPosition, limit);
    page.catch(() => {}); // The page may never be used.
    this.#ahead.set(`${afterPosition}/${limit}`, page);
  }

  async #readPage(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    const values = [afterPosition, limit];
    const doing = `reading after ${afterPosition}`;
    const rows = await this.rows<PageRow>("read_all", readAllStatement, values, doing);
    return eventsOfPage(afterPosition, rows);
  }

  async readSome(
    { names, beginnings }: SomeStreams,
    afterPosition: number,
    window: number,
  ): Promise<SomeEvents> {
    const values = [afterPosition, window, names, beginnings];
    const doing = `reading some streams after ${afterPosition}`;
    const rows = await this.rows<SomeRow>("read_some", readSomeStatement, values, doing);
    const events = rows.flatMap((row) => {
      if (row[1] === null) return [];
      const [, ...event] = row;
      return eventsOfStream(event[8], [event.slice(0, 8) as EventRow]);
    });
    const head = rows[0]?.[0] ?? 0;
    // A log that lost its last events ends before the reader's position.
    return { events, scannedTo: Math.max(afterPosition, Math.min(afterPosition + window, head)) };
  }

  async positionsOf(
    { names, beginnings }: SomeStreams,
    afterPosition: number,
  ): Promise<readonly number[]> {
    const values = [names, beginnings, afterPosition];
    const doing = `finding some streams after ${afterPosition}`;
    const rows = await this.rows<[number]>("positions_of", positionsStatement, values, doing);
    return rows.map(([position]) => position);
  }

  async readAt(positions: readonly number[]): Promise<readonly StoredEvent[]> {
    const doing = `reading ${positions.length} positions`;
    const rows = await this.rows<[...event: EventRow, stream: string]>(
      "read_at",
      readAtStatement,
      [positions],
      doing,
    );
    return rows.flatMap((row) => eventsOfStream(row[8], [row.slice(0, 8) as EventRow]));
  }

  async head(): Promise<number> {
    const text = "select position from log.commits order by position desc limit 1";
    const rows = await this.rows<[number]>("head", text, [], "asking for the head");
    return rows[0]?.[0] ?? 0;
  }

  async timeAheadMs(): Promise<number> {
    const text = `select greatest(0, time_ms - floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
      from log.commits order by position desc limit 1`;
    const rows = await this.rows<[number]>("time_ahead", text, [], "asking for the log's time");
    return rows[0]?.[0] ?? 0;
  }

  async cursor(consumer: string, partition: number): Promise<CursorState> {
    const text = "select position, part from log.current_cursor($1, $2)";
    const values = [consumer, partition];
    const rows = await this.rows<[number, number]>("cursor", text, values, "reading a cursor");
    const [position, part] = rows[0] ?? [0, 0];
    return { position, part };
  }

  async moveCursor(values: (string | number | null)[]): Promise<void> {
    const text = "select log.move_cursor($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    const rows = await this.rows<[string]>("move_cursor", text, values, "moving a cursor");
    const outcome = rows[0]?.[0] ?? "";
    // A move backwards is ignored: the log has a later position already.
    if (outcome === "moved" || outcome === "behind") return;
    throw new Fault(outcome, `the cursor of ${values[0]} was not moved: ${outcome}`, {
      retry: "never",
    });
  }

  async parked(consumer: string | undefined): Promise<ParkedRow[]> {
    const text = `select consumer, partition, position, key, reason, parked_at_ms from log.parked
      where $1::text is null or consumer = $1 order by consumer, partition, position`;
    const rows = await this.rows<[string, number, number, string, string, number]>(
      "parked",
      text,
      [consumer ?? null],
      "reading what is parked",
    );
    return rows.map(([consumer_, partition, position, key, reason, parkedAtMs]) => ({
      consumer: consumer_,
      partition,
      position,
      key,
      reason,
      parkedAtMs,
    }));
  }
}
