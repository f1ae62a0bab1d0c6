/** The only module in which frames change the query client's data. */
import type { Query, QueryClient } from "@tanstack/react-query";
import type { LiveListener } from "./connection.ts";
import type { KeyedDocument } from "./protocol.ts";
import { patched, type RowOrder } from "./rows.ts";

/** The live settings of a read: the topic that keeps it fresh, and the treatment of new rows of its list. */
export type LiveMeta = {
  readonly topic: string;
  /** New rows of the list are added to it; a list in use shows them later (`useHeld`). */
  readonly follow: boolean;
  /** New rows are inserted in this order, and the list is not read again for them. */
  readonly order?: RowOrder | undefined;
  /** Frames repeat the read at most this often; every second by default. */
  readonly readAgainMs?: number | undefined;
};

declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: { readonly live?: LiveMeta };
  }
}

/** Frames within this time are one change of the page. */
const batchMs = 100;
/** Frames repeat a read at most this often, unless it has an interval of its own. */
const readAgainMs = 1_000;

export function patcher(queries: QueryClient): LiveListener {
  const waiting = new Map<string, KeyedDocument>();
  const readAgain = new ReadAgain();
  const during = framesDuringReads(queries, (query, frames) => patchRead(readAgain, query, frames));
  /** A lost right takes documents away, and a new one resets lists: the caller's rights are read again. */
  const readRights = (): void => {
    for (const query of queries.getQueryCache().findAll({ queryKey: ["getMe"] })) {
      readAgain.soon(query);
    }
  };
  const apply = (): void => {
    const frames = [...waiting.values()];
    waiting.clear();
    if (frames.some(({ frame }) => frame.case === "gone")) readRights();
    for (const [key, ofTopic] of Map.groupBy(frames, (one) => one.key)) {
      for (const query of readsOf(queries, key)) {
        patchRead(readAgain, query, ofTopic);
        during.note(query, ofTopic);
      }
    }
  };
  return {
    frames: (frames) => {
      if (waiting.size === 0) setTimeout(apply, batchMs);
      // The last of several frames of one document counts.
      for (const one of frames) waiting.set(`${one.key} ${one.frame.value.id}`, one);
    },
    reset: (keys) => {
      readRights();
      for (const key of keys) for (const query of readsOf(queries, key)) readAgain.soon(query);
    },
  };
}

/**
 * An answer that was requested before a frame arrived may be older than the frame: the frame is applied to it again.
 */
function framesDuringReads(
  queries: QueryClient,
  applyAgain: (query: Query, frames: readonly KeyedDocument[]) => void,
) {
  const noted = new Map<Query, readonly KeyedDocument[]>();
  queries.getQueryCache().subscribe((event) => {
    const query = event.query as Query;
    if (event.type === "removed") noted.delete(query);
    if (event.type !== "updated" || event.action.type !== "success") return;
    const frames = noted.get(query);
    if (frames === undefined || event.action.manual === true) return;
    noted.delete(query);
    applyAgain(query, frames);
  });
  return {
    note: (query: Query, frames: readonly KeyedDocument[]): void => {
      if (query.state.fetchStatus === "idle") return;
      noted.set(query, [...(noted.get(query) ?? []), ...frames]);
    },
  };
}

function readsOf(queries: QueryClient, key: string): readonly Query[] {
  return queries.getQueryCache().findAll({ predicate: (query) => query.meta?.live?.topic === key });
}

function patchRead(readAgain: ReadAgain, query: Query, frames: readonly KeyedDocument[]): void {
  const live = query.meta?.live;
  if (query.state.data === undefined || live === undefined) return;
  let answer: unknown = query.state.data;
  let again = false;
  for (const { frame } of frames) {
    const change = patched(answer, frame, live.follow ? live.order : undefined);
    answer = change.answer;
    again ||= change.readAgain || (change.isNew && live.follow);
  }
  // `manual` lets a running read of the data continue.
  if (answer !== query.state.data) query.setData(answer, { manual: true });
  if (again) readAgain.soon(query);
}

/**
 * Repeats reads soon, each at most once per interval. A read that no component shows is repeated when a component shows
 * it.
 */
class ReadAgain {
  readonly #waiting = new Set<Query>();

  soon(query: Query): void {
    if (this.#waiting.has(query)) return;
    this.#waiting.add(query);
    setTimeout(() => {
      this.#waiting.delete(query);
      query.invalidate();
      if (query.isActive()) void query.fetch();
    }, query.meta?.live?.readAgainMs ?? readAgainMs);
  }
}
