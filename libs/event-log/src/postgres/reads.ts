import type { Pool } from "pg";
import { Fault } from "@trainyard/kernel";
import { logLimits } from "../limits.ts";
import { isFullPage } from "../page-size.ts";
import type { CursorState, ParkedRow, SomeEvents, SomeStreams, StoredEvent } from "../port.ts";
import type { LazyConnection } from "./connection.ts";
import {
  type EventRow,
  eventsOfPage,
  eventsOfStream,
  type PageRow,
  type SomeRow,
} from "./event-rows.ts";
import { faultOf } from "./faults.ts";
import { isTooSlow, readInHalves } from "./halves.ts";
import {
  positionsStatement,
  readAllStatement,
  readAtStatement,
  readFromManyStatement,
  readSomeStatement,
  readStreamStatement,
} from "./statements.ts";

type Events = readonly StoredEvent[];

export class Reader {
  readonly #pool: Pool;
  /** A connection without limits of time, for events that are read alone. */
  readonly #patient: LazyConnection;
  /** Prefetched pages, by position and limit. */
  readonly #ahead = new Map<string, Promise<Events>>();
  #streamsRead = 0;
  #hasManyPartitions = false;

  constructor(pool: Pool, patient: LazyConnection) {
    this.#pool = pool;
    this.#patient = patient;
  }

  async rows<Row extends unknown[]>(
    name: string,
    text: string,
    values: unknown[],
    doing: string,
    alone = false,
  ): Promise<Row[]> {
    const query = { name, text, values, rowMode: "array" } as const;
    try {
      if (alone) return await this.#patient.query<Row>(query);
      return (await this.#pool.query<Row>(query)).rows;
    } catch (error) {
      throw faultOf(error, doing);
    }
  }

  async read(stream: string, afterVersion: number, limit: number): Promise<Events> {
    if (hasNul(stream)) return [];
    const doing = `reading ${stream}`;
    const [name, text] = (await this.#manyPartitions())
      ? ["read_from_many", readFromManyStatement]
      : ["read", readStreamStatement];
    const from = Math.min(afterVersion, logLimits.versionMax);
    return readInHalves("version", from, limit, async (after, size, alone) => {
      const values = [stream, after, size.limit, size.bytesMax];
      return eventsOfStream(stream, await this.rows<EventRow>(name, text, values, doing, alone));
    });
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
    if (hasNul(stream)) return 0;
    const text = "select version from log.events where stream = $1 order by version desc limit 1";
    const doing = `looking up the last version of ${stream}`;
    const rows = await this.rows<[number]>("last_version", text, [stream], doing);
    return rows[0]?.[0] ?? 0;
  }

  /**
   * Prefetches for sequential readers (a rebuild, a relay that catches up): after a full page the next one is requested
   * at once. A prefetched page is used only if it is full, so no newer commit is missed.
   */
  async readAll(afterPosition: number, limit: number): Promise<Events> {
    const ahead = this.#takeAhead(afterPosition, limit);
    const early = await ahead?.catch(() => undefined); // A failed prefetch is read again.
    const isFull = early !== undefined && isFullPage(early, limit);
    const events = isFull ? early : await this.#readPage(afterPosition, limit);
    const last = events.at(-1);
    const isSequential = limit >= logLimits.pageAheadFrom && isFullPage(events, limit);
    if (last !== undefined && isSequential) this.#readAhead(last.position, limit);
    return events;
  }

  #takeAhead(afterPosition: number, limit: number): Promise<Events> | undefined {
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

  #readPage(afterPosition: number, limit: number): Promise<Events> {
    return readInHalves("position", afterPosition, limit, async (after, size, alone) => {
      const values = [after, size.limit, size.bytesMax];
      const doing = `reading after ${after}`;
      const rows = await this.rows<PageRow>("read_all", readAllStatement, values, doing, alone);
      return eventsOfPage(after, rows);
    });
  }

  /** Halves a window that is too slow; its end says so. */
  async readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents> {
    try {
      return await this.#readWindow(streams, afterPosition, window);
    } catch (error) {
      if (!isTooSlow(error) || window === 1) throw error;
      return this.readSome(streams, afterPosition, Math.ceil(window / 2));
    }
  }

  async #readWindow(
    { names, beginnings }: SomeStreams,
    afterPosition: number,
    window: number,
  ): Promise<SomeEvents> {
    const values = [afterPosition, window, names, beginnings, logLimits.pageBytesMax];
    const doing = `reading some streams after ${afterPosition}`;
    const rows = await this.rows<SomeRow>("read_some", readSomeStatement, values, doing);
    const events = rows.flatMap((row) => {
      if (row[0] === null) return [];
      return eventsOfStream(row[8], [row.slice(0, 8) as EventRow]);
    });
    const last = events.at(-1);
    if (last !== undefined && isFullPage(events, window)) {
      return { events, scannedTo: last.position };
    }
    const head = rows[0]?.[9] ?? 0;
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

  readAt(positions: readonly number[]): Promise<Events> {
    return readInHalves("position", 0, positions.length, async (after, size, alone) => {
      const asked = positions.filter((position) => position > after).slice(0, size.limit);
      const doing = `reading ${asked.length} positions`;
      const rows = await this.rows<[...event: EventRow, stream: string]>(
        "read_at",
        readAtStatement,
        [asked, size.bytesMax],
        doing,
        alone,
      );
      return rows.flatMap((row) => eventsOfStream(row[8], [row.slice(0, 8) as EventRow]));
    });
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

/** Whether a name has U+0000, which PostgreSQL stores in no text and refuses to look for. */
const hasNul = (stream: string): boolean => stream.includes("\0");
