/**
 * A stream of Watch. It first catches up: it reads a page of each source in turn, as fast as its client reads, until it
 * is at the end of all sources. Then it follows the frames that the hubs put into its queue. Its cursor covers exactly
 * the frames that were sent.
 */

import { Problem } from "../http/problem.ts";
import type { Place, SeriesTopic } from "./core/series.ts";
import type { Topic } from "./core/topics.ts";
import { liveLimits } from "./limits.ts";
import type { SeriesHub } from "./series-hub.ts";
import { textOfCursor, type WatchCursor } from "./watch-cursor.ts";
import type { WatchHub } from "./watch-hub.ts";
import { type Frame, type Mark, WatchQueue } from "./watch-queue.ts";

export type Watched = {
  /** The caller of the stream; callers take turns. */
  readonly caller: string;
  readonly topics: readonly Topic[];
  readonly series: readonly SeriesTopic[];
};

export type WatchHubs = {
  readonly documents: WatchHub;
  readonly series: SeriesHub;
  /** Makes the text of a bookmark frame. */
  readonly bookmark: (cursor: string) => string;
};

/** The hubs that a stream reads. */
type Sources = Omit<WatchHubs, "documents"> & {
  readonly documents: Pick<WatchHub, "page" | "join">;
};

/** A sent item: the text of a frame, and the cursor after it; empty for none. */
export type Sent = { readonly id: string; readonly text: string };

export class WatchStream {
  readonly #hubs: Sources;
  readonly #watched: Watched;
  readonly #fixed: Pick<WatchCursor, "nowMs" | "begun" | "sight">;
  readonly #places: Map<string, Place>;
  #log: WatchCursor["log"];

  constructor(hubs: Sources, { caller, topics, series }: Watched, from: WatchCursor) {
    const byName = new Map(series.map((topic) => [topic.name, topic]));
    this.#hubs = hubs;
    this.#watched = { caller, topics, series: [...byName.values()] };
    this.#fixed = from;
    this.#log = from.log;
    this.#places = new Map([...from.places].filter(([name]) => byName.has(name)));
  }

  get cursor(): string {
    return textOfCursor(this.place);
  }

  /** The place of the stream, at which another stream may continue. */
  get place(): WatchCursor {
    const { nowMs, begun, sight } = this.#fixed;
    return { nowMs, begun, sight, log: this.#log, places: new Map(this.#places) };
  }

  /**
   * Sets the start of points and lines without a place to the present. If a store does not answer, they start when it
   * does.
   */
  async begin(): Promise<void> {
    const { caller } = this.#watched;
    const without = this.#watched.series.filter(({ name }) => !this.#places.has(name));
    await Promise.all(
      without.map(async (topic) => {
        const place = await this.#hubs.series.now(caller, topic);
        if (place !== null) this.#places.set(topic.name, place);
      }),
    );
  }

  async *frames(signal: AbortSignal): AsyncGenerator<Sent> {
    for await (const { text, mark } of this.#sources(signal)) {
      if (mark !== undefined) this.#take(mark);
      if (mark?.of === "log") yield this.#bookmark();
      else if (text !== "") yield { id: mark === undefined ? "" : this.cursor, text };
    }
  }

  #take(mark: Mark): void {
    if (mark.of === "log") this.#log = mark.at;
    else this.#places.set(mark.name, mark.place);
  }

  #bookmark(): Sent {
    const id = this.cursor;
    return { id, text: this.#hubs.bookmark(id) };
  }

  async *#sources(signal: AbortSignal): AsyncGenerator<Frame> {
    const { documents, series } = this.#hubs;
    const { caller, topics } = this.#watched;
    for (let isBehind = true; isBehind && !signal.aborted; ) {
      isBehind = yield* documents.page(caller, topics, this.#log);
      // A store that does not answer is queried once per round, not for each of its topics.
      const away = new Set<SeriesTopic["kind"]>();
      for (const topic of this.#watched.series) {
        if (away.has(topic.kind)) continue;
        const outcome = yield* this.#pageOf(topic);
        if (outcome === "away") away.add(topic.kind);
        isBehind ||= outcome === "more";
      }
    }
    using stack = new DisposableStack();
    const queue = new WatchQueue(liveLimits.watchQueuedCharactersMax);
    stack.use(documents.join(caller, topics, this.#log, queue));
    for (const topic of this.#watched.series) {
      stack.use(series.join(caller, topic, this.#places.get(topic.name) ?? null, queue));
    }
    yield* queue.frames(signal);
  }

  /** Yields a page of a topic. If the store does not answer, the hub waits for it, and the other sources continue. */
  async *#pageOf(topic: SeriesTopic): AsyncGenerator<Frame, "more" | "end" | "away"> {
    const after = this.#places.get(topic.name);
    if (after === undefined) return "end";
    const { caller } = this.#watched;
    const page = await this.#hubs.series.page(caller, topic, after).catch((error: unknown) => {
      // The hub logs the failure and retries.
      if (error instanceof Problem && error.status < 500) throw error;
      return null;
    });
    if (page === null) return "away";
    yield* page.frames;
    return page.more ? "more" : "end";
  }
}
