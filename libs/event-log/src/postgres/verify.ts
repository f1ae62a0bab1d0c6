/** Computes the hash chain again from the stored data, page by page. */
import { genesis, sha256Hex } from "../hash.ts";
import { logLimits } from "../limits.ts";
import type { LogAnchor, VerifyFinding } from "../port.ts";
import {
  anchorFinding,
  type ChainCommit,
  type ChainEvent,
  type ChainStart,
  ChainWalk,
} from "../verify-chain.ts";
import type { Reader } from "./reads.ts";
import { pageOf } from "./statements.ts";

type CommitRow = [
  position: number,
  count: number,
  commitId: string,
  timeMs: number,
  hash: Buffer,
  consumer: string | null,
  partition: number,
  cursorPosition: number,
  cursorPart: number,
  meta: string,
];
type EventRow = [
  position: number,
  stream: string,
  version: number,
  id: string,
  type: string,
  body: string | null,
  erased: Buffer | null,
  commitPosition: number,
];

const startStatement = `select position, time_ms, hash from log.commits
  where position <= $1 order by position desc limit 1`;
const commitsStatement = `select position, events, commit_id, time_ms, hash,
    consumer, partition, cursor_position, cursor_part,
    meta
  from log.commits where position > $1 order by position limit $2`;
const eventsStatement = pageOf(
  "position",
  `select position, stream, version, id, type, body, erased, commit_position
  from log.events where position > $1 and position <= $2 order by position limit $3`,
  "$4",
);
const eventsPerPage = 5_000;
const straysReportedMax = 100;

const chainCommit = (row: CommitRow): ChainCommit => ({
  position: row[0],
  count: row[1],
  commitId: row[2],
  timeMs: row[3],
  hash: row[4],
  cursor:
    row[5] === null
      ? null
      : { consumer: row[5], partition: row[6], position: row[7], part: row[8] },
  meta: row[9],
});

const chainEvent = (row: EventRow): ChainEvent => ({
  position: row[0],
  stream: row[1],
  version: row[2],
  id: row[3],
  type: row[4],
  bodySha256: row[5] === null ? (row[6]?.toString("hex") ?? "") : sha256Hex(row[5]),
  commitPosition: row[7],
});

/** Reads the events of a range in pages and returns them up to a position. */
class EventPages {
  readonly #reader: Reader;
  #page: ChainEvent[] = [];
  #after: number;

  constructor(reader: Reader, after: number) {
    this.#reader = reader;
    this.#after = after;
  }

  async upTo(position: number): Promise<readonly ChainEvent[]> {
    const taken: ChainEvent[] = [];
    for (;;) {
      const end = this.#page.findIndex((event) => event.position > position);
      if (end >= 0) {
        taken.push(...this.#page.splice(0, end));
        return taken;
      }
      taken.push(...this.#page);
      this.#page = [];
      if (this.#after >= position) return taken;
      await this.#fetch(position);
    }
  }

  /** Reads the next page beyond the requested position; events behind its last one may still be appended. */
  async #fetch(position: number): Promise<void> {
    const until = Math.max(position, this.#after + eventsPerPage);
    const rows = await this.#reader.rows<EventRow>(
      "verify_events",
      eventsStatement,
      [this.#after, until, eventsPerPage, logLimits.pageBytesMax],
      "verifying the log",
    );
    this.#page = rows.map(chainEvent);
    this.#after = rows.at(-1)?.[0] ?? position;
  }
}

export async function readAnchor(reader: Reader): Promise<LogAnchor> {
  const text = "select position, hash from log.commits order by position desc limit 1";
  const rows = await reader.rows<[number, Buffer]>("anchor", text, [], "reading the log's end");
  const [position, hash] = rows[0] ?? [0, Buffer.from(genesis)];
  return { position, hash: hash.toString("hex") };
}

export async function checkAnchor(
  reader: Reader,
  anchor: LogAnchor,
): Promise<VerifyFinding | null> {
  const text = "select hash from log.commits where position = $1";
  const doing = "comparing the log with an anchor";
  const rows = await reader.rows<[Buffer]>("check_anchor", text, [anchor.position], doing);
  return anchorFinding(anchor, rows[0]?.[0].toString("hex"), await reader.head());
}

export async function* verifyChain(
  reader: Reader,
  afterPosition: number,
  onProgress?: (position: number) => void,
): AsyncGenerator<VerifyFinding> {
  const doing = "verifying the log";
  const starts = await reader.rows<[number, number, Buffer]>(
    "verify_start",
    startStatement,
    [afterPosition],
    doing,
  );
  const first = starts[0];
  const start: ChainStart =
    first === undefined
      ? { position: 0, timeMs: 0, hash: genesis }
      : { position: first[0], timeMs: first[1], hash: first[2] };
  const walk = new ChainWalk(start);
  const events = new EventPages(reader, start.position);
  for (;;) {
    const values = [walk.position, logLimits.verifyPageCommits];
    const rows = await reader.rows<CommitRow>("verify_commits", commitsStatement, values, doing);
    for (const row of rows) {
      yield* walk.step(chainCommit(row), await events.upTo(row[0]));
    }
    onProgress?.(walk.position);
    if (rows.length < logLimits.verifyPageCommits) break;
  }
  yield* await strays(reader, walk);
}

/** Finds events beyond the last commit, except those of a commit that was appended meanwhile. */
async function strays(reader: Reader, walk: ChainWalk): Promise<readonly VerifyFinding[]> {
  const text = `select e.position from log.events e
    where e.position > $1 and e.position > coalesce((select max(position) from log.commits), 0)
    order by e.position limit $2`;
  const values = [walk.position, straysReportedMax];
  const rows = await reader.rows<[number]>("verify_strays", text, values, "verifying the log");
  return walk.end(rows.map(([position]) => position));
}
