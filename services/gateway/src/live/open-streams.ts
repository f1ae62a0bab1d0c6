/** Counts open streams and their topics, and limits both per caller and in total. */
import { Problem } from "../http/problem.ts";

export type StreamBounds = {
  readonly ofOneMax: number;
  readonly ofAllMax: number;
  /** The most distinct topics of one caller's streams. */
  readonly topicsOfOneMax: number;
  /** The most topics of all callers; a topic counts once per caller. */
  readonly topicsOfAllMax: number;
};

type Caller = {
  streams: number;
  /** The number of the caller's streams by the key of their topic. */
  readonly topics: Map<string, number>;
};

export class OpenStreams {
  readonly #bounds: StreamBounds;
  readonly #callers = new Map<string, Caller>();
  #streams = 0;
  #topics = 0;

  constructor(bounds: StreamBounds) {
    this.#bounds = bounds;
  }

  /** Counts a stream until it is disposed. Throws a Problem of 429 at the limit of the caller or of the gateway. */
  open(caller: string): Disposable {
    const { ofOneMax, ofAllMax } = this.#bounds;
    const own = this.#callers.get(caller) ?? { streams: 0, topics: new Map() };
    if (own.streams >= ofOneMax) throw tooMany(`one caller has at most ${ofOneMax} such streams`);
    if (this.#streams >= ofAllMax) {
      throw tooMany(`a gateway has at most ${ofAllMax} such streams`);
    }
    this.#callers.set(caller, own);
    own.streams += 1;
    this.#streams += 1;
    return {
      [Symbol.dispose]: () => {
        own.streams -= 1;
        this.#streams -= 1;
        if (own.streams === 0) this.#callers.delete(caller);
      },
    };
  }

  /**
   * Counts the topics of a caller's stream until they are disposed. A topic of several streams of the caller counts
   * once.
   */
  openTopics(caller: string, keys: readonly string[]): Disposable {
    const { topicsOfOneMax, topicsOfAllMax } = this.#bounds;
    const { topics } = this.#callers.get(caller) ?? { topics: new Map<string, number>() };
    const added = new Set(keys.filter((key) => !topics.has(key))).size;
    if (topics.size + added > topicsOfOneMax) {
      throw tooManyTopics(`one caller watches at most ${topicsOfOneMax} distinct topics`);
    }
    if (this.#topics + added > topicsOfAllMax) {
      throw tooManyTopics(`a gateway has at most ${topicsOfAllMax} topics that are watched`);
    }
    this.#topics += added;
    for (const key of keys) topics.set(key, (topics.get(key) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#closeTopics(topics, keys) };
  }

  #closeTopics(topics: Caller["topics"], keys: readonly string[]): void {
    for (const key of keys) {
      const left = (topics.get(key) ?? 0) - 1;
      if (left > 0) topics.set(key, left);
      else if (topics.delete(key)) this.#topics -= 1;
    }
  }
}

const tooMany = (detail: string): Problem => new Problem(429, "too_many_streams", detail);
const tooManyTopics = (detail: string): Problem => new Problem(429, "too_many_topics", detail);
