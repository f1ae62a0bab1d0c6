import { Problem } from "../http/problem.ts";

export type TopicBounds = {
  /** The most distinct topics of one caller's streams. */
  readonly ofOneMax: number;
  /** The most topics of all callers; a topic counts once per caller. */
  readonly ofAllMax: number;
};

/** Counts the topics of open streams, and limits them per caller and in total. */
export class OpenTopics {
  readonly #bounds: TopicBounds;
  /** The number of a caller's streams by the key of their topic. */
  readonly #ofCaller = new Map<string, Map<string, number>>();
  #topics = 0;

  constructor(bounds: TopicBounds) {
    this.#bounds = bounds;
  }

  /**
   * Counts the topics of a caller's stream until they are disposed. A topic of several streams of the caller counts
   * once.
   */
  open(caller: string, keys: readonly string[]): Disposable {
    const { ofOneMax, ofAllMax } = this.#bounds;
    const topics = this.#ofCaller.get(caller) ?? new Map<string, number>();
    const added = new Set(keys.filter((key) => !topics.has(key))).size;
    if (topics.size + added > ofOneMax) {
      throw tooMany(`one caller watches at most ${ofOneMax} distinct topics`);
    }
    if (this.#topics + added > ofAllMax) {
      throw tooMany(`a gateway has at most ${ofAllMax} topics that are watched`);
    }
    this.#topics += added;
    this.#ofCaller.set(caller, topics);
    for (const key of keys) topics.set(key, (topics.get(key) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#close(caller, topics, keys) };
  }

  #close(caller: string, topics: Map<string, number>, keys: readonly string[]): void {
    for (const key of keys) {
      const left = (topics.get(key) ?? 0) - 1;
      if (left > 0) topics.set(key, left);
      else if (topics.delete(key)) this.#topics -= 1;
    }
    if (topics.size === 0) this.#ofCaller.delete(caller);
  }
}

const tooMany = (detail: string): Problem => new Problem(429, "too_many_topics", detail);
