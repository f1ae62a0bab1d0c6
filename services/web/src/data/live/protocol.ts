/** Messages between a tab and the live hub. The hub is in a SharedWorker, or in the tab itself. */
import type { ReplyOf } from "@trainyard/contracts";

/** A list or a document of the API's Watch call, without the position from which it is followed. */
export type Topic = {
  /** One of `experiments`, `trials`, `checkpoints`, `models`, `agents` and `points`. */
  readonly kind: string;
  /** The experiment of trials, checkpoints and points. */
  readonly experiment?: string;
  /** A filter in the syntax of lists. */
  readonly filter?: string;
  /** The id, to follow a single document. */
  readonly id?: string;
  readonly archived?: boolean;
};

/**
 * The text that identifies a topic: equal topics have the same text, whatever the order of their fields and however
 * "none" is written.
 */
export function topicKey({ kind, experiment, filter, id, archived }: Topic): string {
  return JSON.stringify({
    kind,
    experiment: experiment || undefined,
    filter: filter || undefined,
    id: id || undefined,
    archived: archived || undefined,
  });
}

export type WatchFrame = ReplyOf<"watch">["frame"];

/** The current document of a topic, or a document that no longer belongs to the topic. */
export type TopicFrame = Extract<WatchFrame, { case: "change" | "gone" }>;

/** Points of an experiment, in the order in which they were stored. */
export type PointsFrame = Extract<WatchFrame, { case: "points" }>;

/** A topic and the position from which it is followed: that of the tab's list, empty if its read had none. */
export type Wanted = { readonly key: string; readonly position: string };

export type FromTab =
  /** All topics that the tab shows, repeated every `limits.tabSaysMs`: a silent tab is dropped. */
  | { readonly kind: "want"; readonly topics: readonly Wanted[] }
  /** The session has changed: the stream is opened again. */
  | { readonly kind: "reopen" };

export type FromHub =
  | { readonly kind: "frames"; readonly frames: readonly KeyedFrame[] }
  /** The tab's data of these topics may be stale: it reads them again. */
  | { readonly kind: "reset"; readonly keys: readonly string[] }
  | { readonly kind: "status"; readonly status: LiveStatus };

export type KeyedFrame = { readonly key: string; readonly frame: TopicFrame | PointsFrame };
export type KeyedDocument = { readonly key: string; readonly frame: TopicFrame };

export type LiveStatus = {
  /** `resting`: no topic is followed; `opening`: a stream is being opened; `signed-out`: the session has ended. */
  readonly state: "resting" | "opening" | "live" | "lost" | "signed-out";
  /** The time of the server's last message, in milliseconds since 1970; 0 for never. */
  readonly heardMs: number;
  /**
   * Topics that are not followed: the server refuses them, because their filter costs too much or their object is gone,
   * or the tabs show more than one stream may have.
   */
  readonly refused: readonly string[];
};

export const restingStatus: LiveStatus = { state: "resting", heardMs: 0, refused: [] };

export const limits = {
  /** The server's maximum of topics in one stream. */
  topicsMax: 64,
  /** Topic changes within this time cause one new stream. */
  reopenMs: 50,
  /** The delay after a broken stream. */
  againMs: 1_000,
  /** Silence of this length is a lost connection: the server sends a message every second. */
  silenceMs: 5_000,
  /** A new stream begins this long before the present, so that changes during its opening are not missed. */
  overlapMs: 3_000,
  /** A refused topic is retried after this time: its filter may be fast by then, or its object exist. */
  refusedMs: 60_000,
  tabSaysMs: 20_000,
  tabGoneMs: 65_000,
  /** A tab that is hidden for this time follows no topics. */
  restMs: 30_000,
} as const;

/** Receives the points of an experiment. */
export interface PointsListener {
  /** Receives points in the order in which they were stored; some may be repeated. */
  points(items: PointsFrame["value"]["items"]): void;
  /** Points may be missing, so the series are read again. */
  reset(): void;
}
