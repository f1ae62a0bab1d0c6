/**
 * One stream of Watch. It reads on from its places, a page of each source in turn and as fast as its client reads,
 * until all are at their ends; then it follows what the hubs put into its queue. Its cursor has what was handed out, no
 * more.
 */
import type { Place, SeriesTopic } from "../core/watch/series.ts";
import type { Topic } from "../core/watch/topics.ts";
import { Problem } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";
import type { SeriesHub } from "./series-hub.ts";
import { textOfCursor, type WatchCursor } from "./watch-cursor.ts";
import type { WatchHub } from "./watch-hub.ts";
import { type Frame, type Mark, WatchQueue } from "./watch-queue.ts";

export type Watched = {
  /** The stream's caller: callers have their turns one after the other. */
  readonly caller: string;
  readonly topics: readonly Topic[];
  readonly series: readonly SeriesTopic[];
};

export type WatchHubs = {
  readonly documents: WatchHub;
  readonly series: SeriesHub;
  /** The text of a frame. */
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
  readonly #fixed: Pick<WatchCursor, "nowMs" | "begun">;
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
    return textOfCursor({ ...this.#fixed, log: this.#log, places: this.#places });
  }

  /** Points and lines without a place begin now; those of a store that does not answer, when it does. */
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
      // A store that does not answer is waited for once, and not for each of its topics.
      const away = new Set<SeriesTopic["kind"]>();
      for (const topic of this.#watched.series) {
        if (away.has(topic.kind)) continue;
        const outcome = yield* this.#pageOf(topic);
        if (outcome === "away") away.add(topic.kind);
        isBehind ||= outcome === "more";
      }
    }
    using stack = new DisposableStack();
    const queue = new WatchQueue(gatewayLimits.watchQueuedCharactersMax);
    stack.use(documents.join(caller, topics, this.#log, queue));
    for (const topic of this.#watched.series) {
      stack.use(series.join(caller, topic, this.#places.get(topic.name) ?? null, queue));
    }
    yield* queue.frames(signal);
  }

  /** A page that does not come is waited for by the hub, and holds up no other source. */
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
