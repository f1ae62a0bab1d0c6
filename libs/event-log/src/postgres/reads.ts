/** What is read, one statement each. Positions and versions come as numbers, bodies as they were written. */
import type { Pool } from "pg";
import { Fault } from "@trainyard/kernel";
import type { CommitMeta, CursorState, ParkedRow, StoredEvent } from "../port.ts";
import { faultOf } from "./faults.ts";

type EventRow = [
  position: number,
  stream: string,
  version: number,
  id: string,
  type: string,
  body: string | null,
  timeMs: number,
  commitId: string,
  meta: string,
];

const eventColumns = `e.position, e.stream, e.version, e.id, e.type, e.body,
  c.time_ms, c.commit_id, c.meta`;
/** The commit of an event is the first one that ends at or after it. */
const itsCommit = `cross join lateral (
    select * from log.commits m where m.position >= e.position order by m.position limit 1
  ) c`;

const readStreamStatement = `select ${eventColumns} from (
    select * from log.events where stream = $1 and version > $2 order by version limit $3
  ) e ${itsCommit} order by e.version`;
const readAllStatement = `select ${eventColumns} from (
    select * from log.events where position > $1 order by position limit $2
  ) e ${itsCommit} order by e.position`;

/** Events of one commit follow one another and share their attributes, which are parsed once. */
function storedEvents(rows: readonly EventRow[]): StoredEvent[] {
  let text = "";
  let meta = {} as CommitMeta;
  return rows.map((row) => {
    if (row[8] !== text) {
      text = row[8];
      meta = JSON.parse(text) as CommitMeta;
    }
    return {
      position: row[0],
      stream: row[1],
      version: row[2],
      id: row[3],
      type: row[4],
      timeMs: row[6],
      commitId: row[7],
      meta,
      // Erased by law: the place stays, its content is the empty message.
      body: row[5] ?? "{}",
    };
  });
}

export class Reader {
  readonly #pool: Pool;

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
    const rows = await this.rows<EventRow>("read", readStreamStatement, values, doing);
    return storedEvents(rows);
  }

  async readAll(afterPosition: number, limit: number): Promise<StoredEvent[]> {
    const values = [afterPosition, limit];
    const doing = `reading after ${afterPosition}`;
    const rows = await this.rows<EventRow>("read_all", readAllStatement, values, doing);
    return storedEvents(rows);
  }

  async head(): Promise<number> {
    const text = "select position from log.commits order by position desc limit 1";
    const rows = await this.rows<[number]>("head", text, [], "asking for the head");
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
    const text = "select log.move_cursor($1, $2, $3, $4, $5, $6)";
    const rows = await this.rows<[string]>("move_cursor", text, values, "moving a cursor");
    const outcome = rows[0]?.[0] ?? "";
    // A move backwards says what the log knows already.
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
