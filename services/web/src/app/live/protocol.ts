/** Messages between a tab and the live hub. The hub is in a SharedWorker, or in the tab itself. */
import type { ReplyOf } from "@trainyard/contracts";

/** A list or a document of the API's Watch call, without the position from which it is followed. */
export type Topic = {
  /** experiments, trials, checkpoints, models, agents or points. */
  readonly kind: string;
  /** The experiment of trials, checkpoints and points. */
  readonly experiment?: string;
  /** A filter as lists take it. */
  readonly filter?: string;
  /** Only this document. */
  readonly id?: string;
  readonly archived?: boolean;
};

/**
 * The text of a topic is its identity: equal topics have the same text, whatever their order and however "none" is
 * written.
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

/** A document of a topic as it is now, or what does not belong to the topic any more. */
export type TopicFrame = Extract<WatchFrame, { case: "change" | "gone" }>;

/** Points of an experiment, in the order in which they were stored. */
export type PointsFrame = Extract<WatchFrame, { case: "points" }>;

/** From when a topic is followed: the position of the list that the tab has; empty if its read had none. */
export type Wanted = { readonly key: string; readonly position: string };

export type FromTab =
  /** All topics that the tab shows. Said again every `limits.tabSaysMs`: a tab that is silent has gone. */
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
  /** resting: nothing is followed; opening: a stream is being opened; signed-out: the session has ended. */
  readonly state: "resting" | "opening" | "live" | "lost" | "signed-out";
  /** When the server was heard last, in milliseconds since 1970; 0 for never. */
  readonly heardMs: number;
  /** Topics that the server does not follow, for their filter costs too much or what they name is gone. */
  readonly refused: readonly string[];
};

export const restingStatus: LiveStatus = { state: "resting", heardMs: 0, refused: [] };

export const limits = {
  /** The server's maximum of topics of one stream. */
  topicsMax: 64,
  /** Topics that change within this time cause one new stream. */
  reopenMs: 50,
  /** The delay after a stream that broke off. */
  againMs: 1_000,
  /** The server says something every second: this much silence is a lost link. */
  silenceMs: 5_000,
  /** A new stream begins this much before now: what a tab reads while it is opened is not missed. */
  overlapMs: 3_000,
  /** A refused topic is asked for again: its filter may be fast by then, or what it names be there. */
  refusedMs: 60_000,
  tabSaysMs: 20_000,
  tabGoneMs: 65_000,
  /** A hidden tab follows nothing after this time. */
  restMs: 30_000,
} as const;

/** Takes the points of an experiment. */
export interface PointsListener {
  /** In the order in which they were stored; some may come twice. */
  points(items: PointsFrame["value"]["items"]): void;
  /** Points may be missing: the series are read again. */
  reset(): void;
}
