/**
 * Follows the log as far as the read model has it, for all watchers of this gateway. For each page of events it looks up
 * which of the documents that they touched belong to each distinct topic, by the list's own SQL, and encodes each frame once.
 */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import type { View } from "@trainyard/runtime";
import type { Topic, Touched } from "../core/watch/topics.ts";
import { touchedOf } from "../core/watch/topics.ts";
import { Problem, unavailable } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";
import type { BackendParts } from "./backend.ts";
import { type Frame, WatchQueue } from "./watch-queue.ts";

/** A place in the log: its position, and the commit that is there, which tells one history from another. */
export type WatchCursor = { readonly position: number; readonly commitId: string };

const beginning: WatchCursor = { position: 0, commitId: "" };
const farBehind = `more than ${gatewayLimits.watchResumedMax} events since`;

export type WatchEncoder = {
  /** What a page of events changes of a topic. A Problem below 500 is the topic's own: it ends the streams that have it. */
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

type Parts = Pick<BackendParts, "clock" | "logger"> & {
  readonly log: Pick<EventLog, "readAll">;
  readonly view: Pick<View, "position" | "reach">;
};

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

  /** The end of what the read model shows now, after a short wait for a position that another replica may have reached. */
  async now(atLeast = 0): Promise<WatchCursor> {
    await this.#parts.view.reach(atLeast, gatewayLimits.watchLookMs).catch(() => {});
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
    while (!signal.aborted) {
      if (this.#isFarBehind(reached)) {
        reached = await this.now();
        yield this.#encoder.reset("", farBehind);
        yield this.#encoder.bookmark(reached);
      }
      const events = await this.#pageAfter(reached.position);
      const last = events.at(-1);
      if (last === undefined) break;
      const touched = touchedOf(events);
      // One topic at a time: its frames are read before those of the next one are made.
      for (const topic of distinct) yield* await this.#encoder.changes(topic, touched);
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

  #isFarBehind({ position }: WatchCursor): boolean {
    return this.#parts.view.position - position > gatewayLimits.watchResumedMax;
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
    const answers = new Map<string, readonly Frame[] | Problem>();
    for (const [key, topic] of topics) answers.set(key, await this.#changesOf(topic, touched));
    for (const watcher of behind) {
      const told = watcher.topics.map(({ key }) => answers.get(key) ?? []);
      const problem = told.find((answer) => answer instanceof Problem);
      if (problem !== undefined) {
        this.#end(watcher, problem);
        continue;
      }
      watcher.from = { position: last.position, commitId: last.commitId };
      this.#send(
        watcher,
        told.flatMap((answer) => (answer instanceof Problem ? [] : answer)),
      );
    }
  }

  /** Throws what every topic could meet, such as a database that is away. */
  async #changesOf(topic: Topic, touched: Touched): Promise<readonly Frame[] | Problem> {
    try {
      return await this.#encoder.changes(topic, touched);
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    }
  }

  /** A watcher whose place has another event, or is beyond the read model, has seen another history. */
  async #resetRewound(): Promise<void> {
    const byPlace = Map.groupBy(this.#watchers, ({ from }) => `${from.position} ${from.commitId}`);
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
    this.#end(watcher, unavailable("the client reads too slowly: it can resume at its cursor"));
  }

  #end(watcher: Watcher, problem: Problem): void {
    this.#watchers.delete(watcher);
    watcher.queue.fail(problem);
  }
}
