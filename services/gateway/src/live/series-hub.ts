/**
 * Follows series, such as points and lines, for all watchers of this gateway, with one loop per distinct topic. Each
 * watcher has its place in the series. The loop reads the page after each distinct place, and encodes it once for all
 * watchers there. Pages are read from the store; announcements on the bus only shorten the wait.
 */
import { type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { FairQueue } from "../http/fair-queue.ts";
import { Problem } from "../http/problem.ts";
import { isLost, isSameHistory, isSamePlace, type Place, type SeriesTopic } from "./core/series.ts";
import { liveLimits } from "./limits.ts";
import { shared } from "./shared.ts";
import { type Frame, readsTooSlowly, type SeriesMark, type WatchQueue } from "./watch-queue.ts";

/** The intervals of queries for points and lines without announcements: at first, and while none arrive. */
const seriesPollMs = 1_000;
const seriesQuietMs = 8_000;

export interface SeriesReader<Message = unknown> {
  /**
   * Returns the items after a place, and the next place. Without a place it returns the latest place and no items.
   */
  look(topic: SeriesTopic, after: Place | null): Promise<SeriesRead<Message>>;
  /** Calls `wake` when an item of the topic was stored. A call may be missed while the bus is unavailable. */
  tail(topic: SeriesTopic, wake: () => void): Promise<AsyncDisposable>;
  /**
   * Returns the frame that makes a client read the series again. Without it, a place that the store lacks and a store
   * that does not answer end the streams.
   */
  reset?(topic: SeriesTopic, reason: string): string;
}

/** An encoded item, and the position after it. Several items of a store may be encoded as one. */
export type SeriesItem<Message> = {
  readonly text: string;
  readonly message?: Message;
  readonly position: string;
};

export type SeriesRead<Message> = {
  readonly items: readonly SeriesItem<Message>[];
  readonly next: Place;
  readonly more: boolean;
  /** Whether the series had ended before it was read to its end. Absent for one that never ends. */
  readonly isOver?: boolean;
};

export type OwnFrame<Message> = Frame<Message> & { readonly mark: SeriesMark };

export type SeriesPage<Message> = {
  readonly frames: readonly OwnFrame<Message>[];
  readonly place: Place;
  readonly more: boolean;
};

type Follower<Message> = {
  readonly caller: string;
  readonly queue: Pick<WatchQueue<OwnFrame<Message>>, "push" | "fail">;
  place: Place | null;
};

type Feed<Message> = {
  readonly topic: SeriesTopic;
  readonly followers: Set<Follower<Message>>;
  wake: () => void;
};

export class SeriesHub<Message = unknown> {
  readonly #parts: { readonly clock: Clock; readonly logger: Logger };
  readonly #reader: SeriesReader<Message>;
  readonly #turns = new FairQueue(liveLimits.watchLooks);
  readonly #feeds = new Map<string, Feed<Message>>();
  /** The running reads of pages, by caller, topic and place: clients that reconnect together start at one place. */
  readonly #pages = new Map<string, Promise<SeriesPage<Message>>>();

  constructor(
    parts: { readonly clock: Clock; readonly logger: Logger },
    reader: SeriesReader<Message>,
  ) {
    this.#parts = parts;
    this.#reader = reader;
  }

  /** Returns the latest place; null while the store does not answer. */
  async now(caller: string, topic: SeriesTopic): Promise<Place | null> {
    return this.#turns
      .run(caller, () => this.#reader.look(topic, null))
      .then(
        ({ next }) => next,
        () => null,
      );
  }

  /**
   * Returns the next page after a place. If the store does not have the place, it returns a reset to the latest place.
   */
  async page(
    caller: string,
    topic: SeriesTopic,
    after: Place | null,
  ): Promise<SeriesPage<Message>> {
    const key = JSON.stringify([caller, topic.key, after]);
    return shared(this.#pages, key, () =>
      this.#turns.run(caller, () => this.#readPage(topic, after)),
    );
  }

  async #readPage(topic: SeriesTopic, after: Place | null): Promise<SeriesPage<Message>> {
    const reader = this.#reader;
    const mark = (place: Place, isOver = false): SeriesMark => ({
      ...{ of: "series", name: topic.name, place, isOver },
    });
    const found = await this.#following(topic, after);
    if (typeof found === "string") {
      // The place is read before the frame is made: what the client lists afterwards then includes everything up to it.
      const { next } = await reader.look(topic, null);
      const text = reader.reset?.(topic, found) ?? "";
      return { frames: [{ text, mark: mark(next) }], place: next, more: false };
    }
    const { items, place, more, isOver } = found;
    const frames: OwnFrame<Message>[] = items.map(({ position, ...item }) => ({
      ...item,
      mark: mark({ ...place, position }),
    }));
    const last = frames.at(-1)?.mark.place ?? after;
    if (isOver || !isSamePlace(last, place)) frames.push({ text: "", mark: mark(place, isOver) });
    return { frames, place, more };
  }

  /** Returns the items after a place, or a sentence that says why the topic must be reset. */
  async #following(topic: SeriesTopic, after: Place | null) {
    const another = "the store has another history";
    if (after !== null && isLost(after)) return another;
    try {
      const { next, isOver = false, ...read } = await this.#reader.look(topic, after);
      if (after !== null && !isSameHistory(after, next)) return another;
      // A store without items of the experiment returns no epoch.
      const place = next.epoch === "" ? { ...next, epoch: after?.epoch ?? "" } : next;
      return { ...read, place, isOver };
    } catch (error) {
      const isForGood = error instanceof Problem && error.status < 500;
      if (!isForGood || this.#reader.reset === undefined) throw error;
      return error.message;
    }
  }

  /**
   * Puts all frames after a place into a queue until it is disposed; without a place, all frames from the present on.
   */
  join(
    caller: string,
    topic: SeriesTopic,
    place: Place | null,
    queue: Follower<Message>["queue"],
  ): Disposable {
    const feed = this.#feeds.get(topic.key) ?? this.#begin(topic);
    const follower = { caller, queue, place };
    feed.followers.add(follower);
    feed.wake();
    return {
      [Symbol.dispose]: () => {
        feed.followers.delete(follower);
        if (feed.followers.size > 0) return;
        if (this.#feeds.get(topic.key) === feed) this.#feeds.delete(topic.key);
        feed.wake();
      },
    };
  }

  #begin(topic: SeriesTopic): Feed<Message> {
    const feed: Feed<Message> = { topic, followers: new Set(), wake: () => {} };
    this.#feeds.set(topic.key, feed);
    void this.#run(feed);
    return feed;
  }

  async #run(feed: Feed<Message>): Promise<void> {
    const { clock, logger } = this.#parts;
    const { pointLookMs, watchRetryMs } = liveLimits;
    let waitMs: number = seriesPollMs;
    let tail: AsyncDisposable | null = null;
    // The first watcher is added in this turn of the event loop.
    await Promise.resolve();
    while (feed.followers.size > 0) {
      const woken = new AbortController();
      feed.wake = () => woken.abort();
      try {
        tail ??= await this.#reader.tail(feed.topic, () => feed.wake());
        const { isNews, isBehind } = await this.#tell(feed);
        if (isBehind) continue;
        // The pause lets single reports be read together.
        await pause(clock, pointLookMs);
        await pause(clock, waitMs, woken.signal);
        waitMs =
          isNews || woken.signal.aborted ? seriesPollMs : Math.min(2 * waitMs, seriesQuietMs);
      } catch (error) {
        logger.warn({ err: error, topic: feed.topic.key }, "series_retried");
        await pause(clock, watchRetryMs);
      }
    }
    // A follower that was dropped may leave much later, and the next one needs a loop that runs.
    if (this.#feeds.get(feed.topic.key) === feed) this.#feeds.delete(feed.topic.key);
    try {
      await tail?.[Symbol.asyncDispose]();
    } catch (error) {
      logger.warn({ err: error, topic: feed.topic.key }, "series_not_left");
    }
  }

  /**
   * Sends the next page to the watchers of each place. Watchers at the end share a place, and so one query. A failed
   * page is queried again, or ends the streams at its place, and delays no watcher at another place.
   */
  async #tell({ topic, followers }: Feed<Message>) {
    const byPlace = Map.groupBy(followers, ({ place }) => JSON.stringify(place));
    let isNews = false;
    let isBehind = false;
    const failures: unknown[] = [];
    for (const together of byPlace.values()) {
      try {
        const caller = this.#turns.leastBusy(together.map((follower) => follower.caller));
        const { frames, place, more } = await this.page(caller, topic, together[0]?.place ?? null);
        isNews ||= frames.length > 0;
        isBehind ||= more;
        for (const follower of together) {
          follower.place = place;
          if (frames.length === 0 || follower.queue.push(frames)) continue;
          followers.delete(follower);
          follower.queue.fail(readsTooSlowly());
        }
      } catch (error) {
        if (this.#reader.reset !== undefined) failures.push(error);
        else {
          for (const follower of together) {
            followers.delete(follower);
            follower.queue.fail(error);
          }
        }
      }
    }
    // Watchers that are behind continue first; the failure repeats with their last page.
    if (failures.length > 0 && !isBehind) throw failures[0];
    return { isNews, isBehind };
  }
}
