/**
 * Follows the log as far as the read model has it, for all watchers of this gateway. For each page of events it looks up
 * which of the documents that they touched belong to each distinct topic, by the list's own SQL, and encodes each frame once.
 */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import type { View } from "@trainyard/runtime";
import type { Topic, Touched } from "../core/watch/topics.ts";
import { touchedOf } from "../core/watch/topics.ts";
import { Problem } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";
import type { BackendParts } from "./backend.ts";
import { beginning, type LogPlace } from "./watch-cursor.ts";
import { type Frame, readsTooSlowly, type WatchQueue } from "./watch-queue.ts";

const farBehind = `more than ${gatewayLimits.watchResumedMax} events since`;

export type WatchEncoder = {
  /** The changes of a page of events to a topic. A Problem below 500 is the topic's own: it ends the streams that have it. */
  readonly changes: (topic: Topic, touched: Touched) => Promise<readonly Frame[]>;
  readonly reset: (topic: string, reason: string) => Frame;
};

type Watcher = {
  readonly topics: readonly Topic[];
  readonly queue: WatchQueue;
  /** The position up to which it has the changes already. */
  from: LogPlace;
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
  async now(atLeast = 0): Promise<LogPlace> {
    await this.#parts.view.reach(atLeast, gatewayLimits.watchLookMs).catch(() => {});
    return this.cursorAt(this.#parts.view.position);
  }

  async cursorAt(position: number): Promise<LogPlace> {
    if (position === 0) return beginning;
    const [event] = await this.#parts.log.readAll(position - 1, 1);
    return { position, commitId: event?.position === position ? event.commitId : "" };
  }

  /** Frames of the next page of events after a place, for one who is behind. Returns false at the end. */
  async *page(topics: readonly Topic[], after: LogPlace): AsyncGenerator<Frame, boolean> {
    if (this.#isFarBehind(after)) {
      const now = await this.now();
      yield this.#encoder.reset("", farBehind);
      yield bookmark(now);
      return true;
    }
    const events = await this.#pageAfter(after.position);
    const last = events.at(-1);
    if (last === undefined) return false;
    const touched = touchedOf(events);
    // One topic at a time: its frames are read before those of the next one are made.
    for (const topic of distinct(topics)) yield* await this.#encoder.changes(topic, touched);
    yield bookmark({ position: last.position, commitId: last.commitId });
    return true;
  }

  /** Puts what happens after a place into a queue, until it is disposed of. */
  join(topics: readonly Topic[], from: LogPlace, queue: WatchQueue): Disposable {
    const watcher: Watcher = { topics: distinct(topics), queue, from };
    this.#watchers.add(watcher);
    if (!this.#isRunning) void this.#run();
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) };
  }

  #isFarBehind({ position }: LogPlace): boolean {
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
        this.#send(watcher, [reset, bookmark(now)]);
      }
    }
  }

  #bookmark(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (nowMs - this.#bookmarkedMs < gatewayLimits.watchBookmarkMs) return;
    this.#bookmarkedMs = nowMs;
    for (const watcher of [...this.#watchers]) {
      this.#send(watcher, [bookmark(watcher.from)]);
    }
  }

  #send(watcher: Watcher, frames: readonly Frame[]): void {
    if (frames.length === 0 || watcher.queue.push(frames)) return;
    this.#end(watcher, readsTooSlowly());
  }

  #end(watcher: Watcher, problem: Problem): void {
    this.#watchers.delete(watcher);
    watcher.queue.fail(problem);
  }
}

const bookmark = (at: LogPlace): Frame => ({ text: "", mark: { of: "log", at } });

const distinct = (topics: readonly Topic[]): readonly Topic[] => [
  ...new Map(topics.map((topic) => [topic.key, topic])).values(),
];
