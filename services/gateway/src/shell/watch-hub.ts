/**
 * Follows the log as far as the read model has it, for all watchers of this gateway. For each page of events it looks up
 * which of the documents that they touched belong to each distinct topic, by the list's own SQL, and encodes each frame once.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import type { Topic, Touched } from "../core/watch/topics.ts";
import { touchedOf } from "../core/watch/topics.ts";
import { unavailable } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";
import type { BackendParts } from "./backend.ts";
import { type Frame, WatchQueue } from "./watch-queue.ts";

/** A place in the log: its position, and the commit that is there, which tells one history from another. */
export type WatchCursor = { readonly position: number; readonly commitId: string };

const beginning: WatchCursor = { position: 0, commitId: "" };

export type WatchEncoder = {
  /** What a page of events changes of a topic. */
  readonly changes: (topic: Topic, touched: Touched) => Promise<readonly Frame[]>;
  readonly bookmark: (cursor: WatchCursor) => Frame;
  readonly reset: (topic: string, reason: string) => Frame;
};

type Watcher = {
  readonly topics: readonly Topic[];
  readonly queue: WatchQueue;
  /** What it was told of up to here already. */
  from: WatchCursor;
};

type Parts = Pick<BackendParts, "log" | "view" | "clock" | "logger">;

export class WatchHub {
  readonly #parts: Parts;
  readonly #encoder: WatchEncoder;
  readonly #watchers = new Set<Watcher>();
  #bookmarkedMs = Number.NEGATIVE_INFINITY;
  #isRunning = false;

  constructor(parts: Parts, encoder: WatchEncoder) {
    this.#parts = parts;
    this.#encoder = encoder;
  }

  /** The end of what the read model shows now. */
  async now(): Promise<WatchCursor> {
    return this.cursorAt(this.#parts.view.position);
  }

  async cursorAt(position: number): Promise<WatchCursor> {
    if (position === 0) return beginning;
    const [event] = await this.#parts.log.readAll(position - 1, 1);
    return { position, commitId: event?.position === position ? event.commitId : "" };
  }

  /** Frames of what happens to the topics after a cursor, until the signal aborts. */
  async *watch(
    topics: readonly Topic[],
    after: WatchCursor,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    let reached = after;
    const distinct = [...new Map(topics.map((topic) => [topic.key, topic])).values()];
    for (let seen = 0; !signal.aborted; ) {
      const events = await this.#pageAfter(reached.position);
      const last = events.at(-1);
      if (last === undefined) break;
      seen += events.length;
      if (seen > gatewayLimits.watchResumedMax) {
        reached = await this.now();
        yield this.#encoder.reset("", `more than ${gatewayLimits.watchResumedMax} events since`);
        continue;
      }
      for (const frame of await this.#framesOf(distinct, touchedOf(events))) yield frame;
      reached = { position: last.position, commitId: last.commitId };
      yield this.#encoder.bookmark(reached);
    }
    yield* this.#follow(distinct, reached, signal);
  }

  async *#follow(
    topics: readonly Topic[],
    from: WatchCursor,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const queue = new WatchQueue(gatewayLimits.watchQueuedCharactersMax);
    const watcher: Watcher = { topics, queue, from };
    this.#watchers.add(watcher);
    if (!this.#isRunning) void this.#run();
    try {
      yield* queue.frames(signal);
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  /** The next events that the read model has, too. */
  async #pageAfter(position: number): Promise<readonly StoredEvent[]> {
    const { log, view } = this.#parts;
    const upTo = view.position;
    if (upTo <= position) return [];
    const events = await log.readAll(position, gatewayLimits.watchPageEvents);
    return events.filter((event) => event.position <= upTo);
  }

  async #run(): Promise<void> {
    const { clock, logger, view } = this.#parts;
    this.#isRunning = true;
    while (this.#watchers.size > 0) {
      try {
        const least = Math.min(...[...this.#watchers].map(({ from }) => from.position));
        await view
          .reach(least + 1, gatewayLimits.watchLookMs)
          .catch(() => pause(clock, gatewayLimits.watchRestMs));
        await this.#resetRewound();
        await this.#tell(least);
        this.#bookmark();
      } catch (error) {
        logger.warn({ err: error }, "watch_retried");
        await pause(clock, gatewayLimits.watchRetryMs);
      }
    }
    this.#isRunning = false;
  }

  /** Of the next page of events, to all watchers that have not heard of it. One that joins meanwhile gets it in its turn. */
  async #tell(after: number): Promise<void> {
    const events = await this.#pageAfter(after);
    const last = events.at(-1);
    if (last === undefined) return;
    const behind = [...this.#watchers].filter(({ from }) => from.position < last.position);
    const topics = new Map(
      behind.flatMap((watcher) => watcher.topics.map((topic) => [topic.key, topic] as const)),
    );
    const touched = touchedOf(events);
    const frames = new Map<string, readonly Frame[]>();
    for (const [key, topic] of topics) frames.set(key, await this.#framesOf([topic], touched));
    for (const watcher of behind) {
      watcher.from = { position: last.position, commitId: last.commitId };
      this.#send(
        watcher,
        watcher.topics.flatMap((topic) => frames.get(topic.key) ?? []),
      );
    }
  }

  /** A watcher whose place has another event, or is beyond the read model, has seen another history. */
  async #resetRewound(): Promise<void> {
    const byPlace = Map.groupBy(this.#watchers, ({ from }) => `${from.position} ${from.commitId}`);
    for (const watchers of byPlace.values()) {
      const [{ from } = { from: beginning }] = watchers;
      const found = await this.cursorAt(from.position);
      const { position } = this.#parts.view;
      if (found.commitId === from.commitId && position >= from.position) continue;
      const now = await this.now();
      for (const watcher of watchers) {
        watcher.from = now;
        const reset = this.#encoder.reset("", "the log went back");
        this.#send(watcher, [reset, this.#encoder.bookmark(now)]);
      }
    }
  }

  #bookmark(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#bookmarkedMs < gatewayLimits.watchBookmarkMs) return;
    this.#bookmarkedMs = nowMs;
    for (const watcher of [...this.#watchers]) {
      this.#send(watcher, [this.#encoder.bookmark(watcher.from)]);
    }
  }

  #send(watcher: Watcher, frames: readonly Frame[]): void {
    if (frames.length === 0 || watcher.queue.push(frames)) return;
    this.#watchers.delete(watcher);
    watcher.queue.fail(unavailable("the client reads too slowly: it can resume at its cursor"));
  }

  async #framesOf(topics: readonly Topic[], touched: Touched): Promise<readonly Frame[]> {
    const frames = await Promise.all(topics.map((topic) => this.#encoder.changes(topic, touched)));
    return frames.flat();
  }
}
