/**
 * Follows the log up to the read model's position, for all watchers of this gateway. For each page of events it finds
 * the touched documents of each distinct topic, by the list's SQL, and encodes each frame once. Each caller has a loop
 * that queries its topics one after the other, so a caller with many topics delays only itself. Watchers at the same
 * place within a second share the page and its frames.
 */
import { type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf, pause } from "@trainyard/kernel";
import type { View } from "@trainyard/runtime";
import type { BackendParts } from "../backend.ts";
import { FairQueue } from "../http/fair-queue.ts";
import { Problem } from "../http/problem.ts";
import type { DocumentKind } from "../read-model/core/views/documents.ts";
import type { Moved, Topic, Touched } from "./core/topics.ts";
import { isMove, touchedOf, workspaceAfter } from "./core/topics.ts";
import { liveLimits } from "./limits.ts";
import { shared } from "./shared.ts";
import { beginning, type LogPlace } from "./watch-cursor.ts";
import { type Frame, readsTooSlowly, type WatchQueue } from "./watch-queue.ts";

/** The time for which a page of events, and its changes to topics, are shared with other watchers. */
const watchPageMs = 1_000;
/** The size up to which an answer is shared with other watchers, since several thousand may be kept. */
const watchSharedCharacters = 32 * 1024;
/** The events that are read at once for watchers. */
const watchPageEvents = 500;
/** The interval at which watchers get a bookmark. */
const watchBookmarkMs = 1_000;
const watchLookMs = 1_000;
const watchRestMs = 50;

const farBehind = `more than ${liveLimits.watchResumedMax} events since`;

export type WatchEncoder = {
  /**
   * Returns the frames for the changes of a page to a topic. A Problem below 500 concerns the topic alone, and ends the
   * streams that have it.
   */
  readonly changes: (topic: Topic, touched: Touched) => Promise<readonly Frame[]>;
  readonly reset: (topic: string, reason: string) => Frame;
};

type Watcher = {
  readonly topics: readonly Topic[];
  readonly queue: WatchQueue;
  /** The position up to which the watcher has received the changes. */
  from: LogPlace;
};

/** The watchers of one caller. */
type Lane = { readonly caller: string; readonly watchers: Set<Watcher>; bookmarkedMs: number };

/** A page of events, with the frames of the topics that were queried for it. */
type Page = {
  readonly touched: Touched;
  readonly last: LogPlace;
  readonly answers: Map<string, Promise<readonly Frame[] | Problem>>;
};

type Parts = Pick<BackendParts, "clock" | "logger"> & {
  readonly log: Pick<EventLog, "read" | "readAll">;
  readonly view: Pick<View, "position" | "reach">;
};

export class WatchHub {
  readonly #parts: Parts;
  readonly #encoder: WatchEncoder;
  readonly #turns = new FairQueue(liveLimits.watchQueries);
  readonly #lanes = new Map<string, Lane>();
  /**
   * The pages that were read within the last second, by their start: clients that reconnect together start at one
   * place.
   */
  readonly #pages = new Map<
    number,
    { readonly page: Promise<Page | null>; readonly atMs: number }
  >();
  /** The running reads of commits at positions, by position. */
  readonly #places = new Map<number, Promise<LogPlace>>();

  constructor(parts: Parts, encoder: WatchEncoder) {
    this.#parts = parts;
    this.#encoder = encoder;
  }

  /**
   * Returns the read model's position. It first waits shortly for `atLeast`, which another replica may have reached.
   */
  async now(atLeast = 0): Promise<LogPlace> {
    await this.#parts.view.reach(atLeast, watchLookMs).catch(() => {});
    return this.cursorAt(this.#parts.view.position);
  }

  async cursorAt(position: number): Promise<LogPlace> {
    if (position === 0) return beginning;
    return shared(this.#places, position, () => this.#readPlace(position));
  }

  async #readPlace(position: number): Promise<LogPlace> {
    const [event] = await this.#parts.log.readAll(position - 1, 1);
    return { position, commitId: event?.position === position ? event.commitId : "" };
  }

  /** Yields the frames of the next page after a place, for a watcher that is behind. Returns false at the end. */
  async *page(
    caller: string,
    topics: readonly Topic[],
    after: LogPlace,
  ): AsyncGenerator<Frame, boolean> {
    if (this.#isFarBehind(after)) {
      const now = await this.now();
      yield this.#encoder.reset("", farBehind);
      yield bookmark(now);
      return true;
    }
    const page = await this.#pageAfter(after.position);
    if (page === null) return false;
    // One topic at a time: its frames are consumed before those of the next topic are made.
    for (const topic of distinct(topics)) {
      const answer = await this.#answerOf(caller, topic, page);
      if (answer instanceof Problem) throw answer;
      yield* answer;
    }
    yield bookmark(page.last);
    return true;
  }

  /** Puts all frames after a place into a queue until it is disposed. */
  join(caller: string, topics: readonly Topic[], from: LogPlace, queue: WatchQueue): Disposable {
    const watcher: Watcher = { topics: distinct(topics), queue, from };
    const lane = this.#lanes.get(caller) ?? this.#begin(caller);
    lane.watchers.add(watcher);
    return { [Symbol.dispose]: () => void lane.watchers.delete(watcher) };
  }

  #begin(caller: string): Lane {
    const lane = { caller, watchers: new Set<Watcher>(), bookmarkedMs: Number.NEGATIVE_INFINITY };
    this.#lanes.set(caller, lane);
    void this.#run(lane);
    return lane;
  }

  #isFarBehind({ position }: LogPlace): boolean {
    return this.#parts.view.position - position > liveLimits.watchResumedMax;
  }

  /** Returns the next events, up to the read model's position; null for none. */
  async #pageAfter(position: number): Promise<Page | null> {
    const upTo = this.#parts.view.position;
    if (upTo <= position) return null;
    const nowMs = this.#parts.clock.monotonicMs();
    for (const [begin, { atMs }] of this.#pages) {
      if (nowMs - atMs >= watchPageMs) this.#pages.delete(begin);
    }
    const known = this.#pages.get(position);
    // A known page may end early; its rest is read as the next page. A failed page is read again.
    const found = known === undefined ? null : await known.page.catch(() => null);
    if (found !== null) return found;
    const page = this.#readPage(position, upTo);
    this.#pages.set(position, { page, atMs: nowMs });
    return page;
  }

  async #readPage(position: number, upTo: number): Promise<Page | null> {
    const read = await this.#parts.log.readAll(position, watchPageEvents);
    const events = read.filter((event) => event.position <= upTo);
    const last = events.at(-1);
    if (last === undefined) return null;
    const { position: reached, commitId } = last;
    return {
      touched: touchedOf(events, await this.#movesIn(events)),
      last: { position: reached, commitId },
      answers: new Map(),
    };
  }

  /** Returns the workspaces that moved objects were in before. Moves are rare, so each stream is read for itself. */
  async #movesIn(events: readonly StoredEvent[]): Promise<Moved> {
    const moved = new Map<DocumentKind, Map<string, Set<string>>>();
    for (const { stream, type, version } of events) {
      if (!isMove(type)) continue;
      const earlier = await allOfStream(this.#parts.log, stream, version - 1);
      const kind = categoryOf(stream) as DocumentKind;
      const known = moved.get(kind) ?? new Map<string, Set<string>>();
      const before = known.get(idOf(stream)) ?? new Set();
      known.set(idOf(stream), before.add(workspaceAfter(earlier)));
      moved.set(kind, known);
    }
    return moved;
  }

  async #run(lane: Lane): Promise<void> {
    const { clock, logger, view } = this.#parts;
    const { caller, watchers } = lane;
    // The first watcher is added in this turn of the event loop.
    await Promise.resolve();
    while (watchers.size > 0) {
      try {
        const least = Math.min(...[...watchers].map(({ from }) => from.position));
        await view.reach(least + 1, watchLookMs).catch(() => pause(clock, watchRestMs));
        await this.#resetRewound(lane);
        await this.#tell(lane, least);
        this.#bookmark(lane);
      } catch (error) {
        logger.warn({ err: error }, "watch_retried");
        await pause(clock, liveLimits.watchRetryMs);
      }
    }
    this.#lanes.delete(caller);
  }

  /**
   * Passes the next page of events to all watchers that have not received it. A watcher that joins meanwhile gets it in
   * its turn.
   */
  async #tell(lane: Lane, after: number): Promise<void> {
    const page = await this.#pageAfter(after);
    if (page === null) return;
    const behind = [...lane.watchers].filter(({ from }) => from.position < page.last.position);
    const topics = new Map(
      behind.flatMap((watcher) => watcher.topics.map((topic) => [topic.sharedKey, topic] as const)),
    );
    const answers = new Map<string, readonly Frame[] | Problem>();
    for (const [key, topic] of topics) {
      answers.set(key, await this.#answerOf(lane.caller, topic, page));
    }
    for (const watcher of behind) {
      const told = watcher.topics.map(({ sharedKey }) => answers.get(sharedKey) ?? []);
      const problem = told.find((answer) => answer instanceof Problem);
      if (problem !== undefined) {
        this.#end(lane, watcher, problem);
        continue;
      }
      watcher.from = page.last;
      this.#send(
        lane,
        watcher,
        told.flatMap((answer) => (answer instanceof Problem ? [] : answer)),
      );
    }
  }

  /**
   * Returns the frames of a topic for a page. Throws errors that any topic could have, such as an unavailable database.
   */
  async #answerOf(caller: string, topic: Topic, page: Page): Promise<readonly Frame[] | Problem> {
    const known = page.answers.get(topic.sharedKey);
    if (known !== undefined) return known;
    const asked = this.#ask(caller, topic, page).catch((error: unknown) => {
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    });
    page.answers.set(topic.sharedKey, asked);
    // A failure is not kept, so it is retried; nor is a large answer, which would use much memory.
    const forget = (): void => void page.answers.delete(topic.sharedKey);
    asked.then((answer) => isLarge(answer) && forget(), forget);
    return asked;
  }

  #ask(caller: string, topic: Topic, { touched }: Page): Promise<readonly Frame[]> {
    return this.#turns.run(caller, () => this.#encoder.changes(topic, touched));
  }

  /** Resets watchers of another history: their place has another event, or is beyond the read model. */
  async #resetRewound(lane: Lane): Promise<void> {
    const byPlace = Map.groupBy(lane.watchers, ({ from }) => `${from.position} ${from.commitId}`);
    for (const watchers of byPlace.values()) {
      const [{ from } = { from: beginning }] = watchers;
      const found = await this.cursorAt(from.position);
      const { position } = this.#parts.view;
      const isHere = found.commitId === from.commitId && position >= from.position;
      if (isHere && !this.#isFarBehind(from)) continue;
      const now = await this.now();
      for (const watcher of watchers) {
        watcher.from = now;
        const reset = this.#encoder.reset("", isHere ? farBehind : "the log went back");
        this.#send(lane, watcher, [reset, bookmark(now)]);
      }
    }
  }

  #bookmark(lane: Lane): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - lane.bookmarkedMs < watchBookmarkMs) return;
    lane.bookmarkedMs = nowMs;
    for (const watcher of [...lane.watchers]) {
      this.#send(lane, watcher, [bookmark(watcher.from)]);
    }
  }

  #send(lane: Lane, watcher: Watcher, frames: readonly Frame[]): void {
    if (frames.length === 0 || watcher.queue.push(frames)) return;
    this.#end(lane, watcher, readsTooSlowly());
  }

  #end({ watchers }: Lane, watcher: Watcher, problem: Problem): void {
    watchers.delete(watcher);
    watcher.queue.fail(problem);
  }
}

async function allOfStream(
  log: Pick<EventLog, "read">,
  stream: string,
  version: number,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = 0; after < version; ) {
    const page = await log.read(stream, after, watchPageEvents);
    events.push(...page.filter((event) => event.version <= version));
    after = page.at(-1)?.version ?? version;
    if (!isFullPage(page, watchPageEvents)) break;
  }
  return events;
}

const isLarge = (answer: readonly Frame[] | Problem): boolean =>
  !(answer instanceof Problem) &&
  answer.reduce((sum, { text }) => sum + text.length, 0) > watchSharedCharacters;

const bookmark = (at: LogPlace): Frame => ({ text: "", mark: { of: "log", at } });

const distinct = (topics: readonly Topic[]): readonly Topic[] => [
  ...new Map(topics.map((topic) => [topic.key, topic])).values(),
];
