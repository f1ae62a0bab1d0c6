/**
 * This tab's side of the live connection: the topics that its components show, their frames, and the state of the
 * connection. A SharedWorker holds the stream; a browser without one has a stream for each visible tab.
 */
import { browserHub } from "./browser-hub.ts";
import {
  type FromHub,
  type FromTab,
  type KeyedDocument,
  type KeyedFrame,
  type LiveStatus,
  limits,
  type PointsListener,
  restingStatus,
  type Topic,
  topicKey,
} from "./protocol.ts";

export type LiveListener = {
  readonly frames: (frames: readonly KeyedDocument[]) => void;
  readonly reset: (keys: readonly string[]) => void;
};

type Shown = { position: string; count: number };

export class LiveConnection {
  readonly #shown = new Map<string, Shown>();
  readonly #points = new Map<string, Set<PointsListener>>();
  readonly #watchers = new Set<() => void>();
  #send: (message: FromTab) => void = () => {};
  #listener: LiveListener | null = null;
  #status: LiveStatus = restingStatus;
  #isResting = false;
  #saying: ReturnType<typeof setTimeout> | undefined;
  #restTimer: ReturnType<typeof setTimeout> | undefined;

  /** Connects to the hub; call it once, when the page starts. */
  start(listener: LiveListener): void {
    this.#listener = listener;
    this.#send = connect((message) => this.#hear(message));
    setInterval(() => this.#say(), limits.tabSaysMs);
    document.addEventListener("visibilitychange", () => this.#visibility());
    globalThis.addEventListener("pagehide", () => this.#send({ kind: "want", topics: [] }));
    globalThis.addEventListener("pageshow", () => this.#say());
    this.#say();
  }

  /** Follows a topic from the position of the last read. Returns a function that stops it. */
  follow(topic: Topic, position: string): () => void {
    const key = topicKey(topic);
    const shown = this.#shown.get(key) ?? { position, count: 0 };
    shown.count += 1;
    this.#shown.set(key, shown);
    this.#saySoon();
    return () => {
      shown.count -= 1;
      if (shown.count === 0) this.#shown.delete(key);
      this.#saySoon();
    };
  }

  /** Follows the points of an experiment from now on. Returns a function that stops it. */
  followPoints(experiment: string, listener: PointsListener): () => void {
    const topic = { kind: "points", experiment };
    const key = topicKey(topic);
    const listeners = this.#points.get(key) ?? new Set();
    this.#points.set(key, listeners.add(listener));
    const stop = this.follow(topic, "");
    return () => {
      stop();
      listeners.delete(listener);
      if (listeners.size === 0) this.#points.delete(key);
    };
  }

  /** Reopens the stream; call it after signing in or out. */
  reopen(): void {
    this.#send({ kind: "reopen" });
  }

  readonly status = (): LiveStatus => this.#status;

  readonly onStatus = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  #hear(message: FromHub): void {
    if (message.kind === "frames") this.#hearFrames(message.frames);
    else if (message.kind === "reset") this.#reset(message.keys);
    else {
      this.#status = message.status;
      for (const changed of this.#watchers) changed();
    }
  }

  #hearFrames(frames: readonly KeyedFrame[]): void {
    const documents = frames.filter((one): one is KeyedDocument => one.frame.case !== "points");
    if (documents.length > 0) this.#listener?.frames(documents);
    for (const { key, frame } of frames) {
      if (frame.case !== "points") continue;
      for (const listener of this.#points.get(key) ?? []) listener.points(frame.value.items);
    }
  }

  #reset(keys: readonly string[]): void {
    this.#listener?.reset(keys);
    for (const key of keys) for (const listener of this.#points.get(key) ?? []) listener.reset();
  }

  #visibility(): void {
    clearTimeout(this.#restTimer);
    if (document.visibilityState === "hidden") {
      this.#restTimer = setTimeout(() => {
        this.#isResting = true;
        this.#say();
      }, limits.restMs);
    } else if (this.#isResting) {
      this.#isResting = false;
      // List changes that the hidden tab missed arrive from the position of its read; a document is read again.
      this.#say();
      const unplaced = [...this.#shown].filter(([, { position }]) => position === "");
      this.#reset(unplaced.map(([key]) => key));
    }
  }

  /** Sends the changes of one turn as one message. */
  #saySoon(): void {
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => this.#say(), 0);
  }

  #say(): void {
    const topics = this.#isResting
      ? []
      : [...this.#shown].map(([key, { position }]) => ({ key, position }));
    this.#send({ kind: "want", topics });
  }
}

function connect(hear: (message: FromHub) => void): (message: FromTab) => void {
  if (typeof SharedWorker === "undefined") return browserHub().attach(hear);
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), {
    type: "module",
    name: "trainyard-live",
  });
  worker.port.addEventListener("message", ({ data }: MessageEvent<FromHub>) => hear(data));
  worker.port.start();
  return (message) => worker.port.postMessage(message);
}

export const live = new LiveConnection();
