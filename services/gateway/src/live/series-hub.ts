/**
 * Follows points and lines for all watchers of this gateway, with one loop per distinct topic. Each watcher has its
 * place in the series. The loop reads the page after each distinct place, and encodes it once for all watchers there.
 * Pages are read from the store; announcements on the bus only shorten the wait.
 */
import { type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { FairQueue } from "../http/fair-queue.ts";
import { Problem } from "../http/problem.ts";
import { isLost, isSameHistory, isSamePlace, type Place, type SeriesTopic } from "./core/series.ts";
import { liveLimits } from "./limits.ts";
import { type Frame, readsTooSlowly, type WatchQueue } from "./watch-queue.ts";

/** The intervals of queries for points and lines without announcements: at first, and while none arrive. */
const seriesPollMs = 1_000;
const seriesQuietMs = 8_000;

export interface SeriesReader {
  /**
   * Returns the frame with all items after a place, and the next place; an empty text means no items. Without a place
   * it returns the latest place.
   */
  look(topic: SeriesTopic, after: Place | null): Promise<SeriesRead>;
  /** Calls `wake` when an item of the topic was stored. A call may be missed while the bus is unavailable. */
  tail(topic: SeriesTopic, wake: () => void): Promise<AsyncDisposable>;
  /** Returns the frame that makes a client read the series again. */
  reset(topic: SeriesTopic, reason: string): string;
}

export type SeriesRead = { readonly text: string; readonly next: Place; readonly more: boolean };

export type SeriesPage = {
  readonly frames: readonly Frame[];
  readonly place: Place;
  readonly more: boolean;
};

type Follower = { readonly caller: string; readonly queue: WatchQueue; place: Place | null };

type Feed = {
  readonly topic: SeriesTopic;
  readonly followers: Set<Follower>;
  wake: () => void;
};

export class SeriesHub {
  readonly #parts: { readonly clock: Clock; readonly logger: Logger };
  readonly #reader: SeriesReader;
  readonly #turns = new FairQueue(liveLimits.watchLooks);
  readonly #feeds = new Map<string, Feed>();

  constructor(parts: { readonly clock: Clock; readonly logger: Logger }, reader: SeriesReader) {
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
  async page(caller: string, topic: SeriesTopic, after: Place | null): Promise<SeriesPage> {
    return this.#turns.run(caller, () => this.#readPage(topic, after));
  }

  async #readPage(topic: SeriesTopic, after: Place | null): Promise<SeriesPage> {
    const reader = this.#reader;
    const frames = (text: string, place: Place): readonly Frame[] =>
      text === "" && isSamePlace(after, place)
        ? []
        : [{ text, mark: { of: "series", name: topic.name, place } }];
    const found = await this.#following(topic, after);
    if (typeof found !== "string") return { ...found, frames: frames(found.text, found.place) };
    // The place is read before the frame is made: what the client lists afterwards then includes everything up to it.
    const { next } = await reader.look(topic, null);
    return { frames: frames(reader.reset(topic, found), next), place: next, more: false };
  }

  /** Returns the frame after a place, or a sentence that says why the topic must be reset. */
  async #following(topic: SeriesTopic, after: Place | null) {
    const another = "the store has another history";
    if (after !== null && isLost(after)) return another;
    try {
      const { text, next, more } = await this.#reader.look(topic, after);
      if (after !== null && !isSameHistory(after, next)) return another;
      // A store without items of the experiment returns no epoch.
      const place = next.epoch === "" ? { ...next, epoch: after?.epoch ?? "" } : next;
      return { text, place, more };
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      return error.message;
    }
  }

  /**
   * Puts all frames after a place into a queue until it is disposed; without a place, all frames from the present on.
   */
  join(caller: string, topic: SeriesTopic, place: Place | null, queue: WatchQueue): Disposable {
    const feed = this.#feeds.get(topic.key) ?? this.#begin(topic);
    const follower: Follower = { caller, queue, place };
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

  #begin(topic: SeriesTopic): Feed {
    const feed: Feed = { topic, followers: new Set(), wake: () => {} };
    this.#feeds.set(topic.key, feed);
    void this.#run(feed);
    return feed;
  }

  async #run(feed: Feed): Promise<void> {
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
    try {
      await tail?.[Symbol.asyncDispose]();
    } catch (error) {
      logger.warn({ err: error, topic: feed.topic.key }, "series_not_left");
    }
  }

  /**
   * Sends the next page to the watchers of each place. Watchers at the end share a place, and so one query. A failed
   * page is queried again, and delays no watcher at another place.
   */
  async #tell({ topic, followers }: Feed) {
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
        failures.push(error);
      }
    }
    // Watchers that are behind continue first; the failure repeats with their last page.
    if (failures.length > 0 && !isBehind) throw failures[0];
    return { isNews, isBehind };
  }
}
