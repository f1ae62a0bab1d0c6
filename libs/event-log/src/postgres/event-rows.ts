/** The rows of events, as the statements of reads return them, and the events that they are. */
import { Fault } from "@trainyard/kernel";
import type { CommitMeta, StoredEvent } from "../port.ts";

export type EventRow = [
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
export type PageRow = [
  position: number,
  stream: string | null,
  version: number,
  id: string,
  type: string,
  body: string | null,
  timeMs: number | null,
  meta: string,
];

/** An event with its stream, and the head; the event's position is null if there is no event. */
export type SomeRow = [...event: EventRow, stream: string, head: number];

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

export function eventsOfStream(stream: string, rows: readonly EventRow[]): StoredEvent[] {
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
export function eventsOfPage(afterPosition: number, rows: PageRow[]): StoredEvent[] {
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
