/**
 * The one live stream of this page. Every subscription is a topic of it; when topics come or go it is opened again with
 * the last cursor, so that no frame is missing.
 */
import type { RequestInitOf } from "@trainyard/contracts";
import { client } from "../client.ts";
import type { Frame } from "./patch.ts";

type Topic = NonNullable<RequestInitOf<"watch">["topics"]>[number];
type Listener = (frame: Frame) => void;

const reopenAfterMs = 50;
const againAfterMs = 2_000;

class LiveConnection {
  /** By the topic's JSON. */
  readonly #listeners = new Map<string, Set<Listener>>();
  #cursor = "";
  #stream: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns what ends the subscription. */
  subscribe(topic: Topic, listener: Listener): () => void {
    const key = JSON.stringify(topic);
    const listeners = this.#listeners.get(key) ?? new Set();
    listeners.add(listener);
    if (!this.#listeners.has(key)) {
      this.#listeners.set(key, listeners);
      this.#openSoon(reopenAfterMs);
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      this.#listeners.delete(key);
      this.#openSoon(reopenAfterMs);
    };
  }

  /** Several topics that come or go at once are one new stream. */
  #openSoon(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#run(), afterMs);
  }

  async #run(): Promise<void> {
    this.#stream?.abort();
    const keys = [...this.#listeners.keys()];
    if (keys.length === 0) return;
    const stream = new AbortController();
    this.#stream = stream;
    const topics = keys.map((key) => JSON.parse(key) as Topic);
    try {
      await this.#read(keys, { topics, after: this.#cursor }, stream.signal);
    } catch {
      // The platform is away, or the cursor is of another history: the next attempt says so to whoever listens.
      this.#cursor = "";
    }
    if (!stream.signal.aborted) this.#openSoon(againAfterMs);
  }

  async #read(
    keys: readonly string[],
    request: RequestInitOf<"watch">,
    signal: AbortSignal,
  ): Promise<void> {
    const keyOf = new Map<string, string>();
    for await (const { id, message } of client.stream("watch", request, { signal })) {
      if (id !== "") this.#cursor = id;
      const { frame } = message;
      if (frame.case === "opened") {
        frame.value.topics.forEach((name, index) => keyOf.set(name, keys[index] ?? ""));
      } else if (frame.case === "change" || frame.case === "gone" || frame.case === "reset") {
        this.#tell(keyOf.get(frame.value.topic), frame);
      }
    }
  }

  /** A frame without a topic concerns all of them. */
  #tell(key: string | undefined, frame: Frame): void {
    const told = key === undefined ? [...this.#listeners.values()] : [this.#listeners.get(key)];
    for (const listeners of told) for (const listener of listeners ?? []) listener(frame);
  }
}

export const live = new LiveConnection();
