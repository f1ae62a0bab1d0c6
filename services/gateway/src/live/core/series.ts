/** Series as topics: points and lines in stores outside of the log, and the events of a search. */

/** The filter of lines; empty texts are no condition. */
export type LineFilter = {
  readonly run?: number | undefined;
  readonly nodeRank?: number | undefined;
  readonly rank?: number | undefined;
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly source: string;
  readonly level: string;
  readonly contains: string;
  readonly matches: string;
  readonly search: string;
};

export type SeriesTopic = {
  /** The key of the topic; equal topics have equal keys. */
  readonly key: string;
  /** A short digest of the key, used in cursors. */
  readonly name: string;
  readonly kind: "points" | "lines" | "search";
  readonly experiment: string;
  /** The trial, or the task, to follow; empty for all. Likewise, an empty group or no names mean all. */
  readonly trial: string;
  readonly group: string;
  readonly names: readonly string[];
  /** The filter of lines; absent for all. */
  readonly filter?: LineFilter;
};

/** A position in a series: a reader has received everything up to it. */
export type Place = {
  /** The position as decimal digits. */
  readonly position: string;
  /** The epoch of the store's history that the position belongs to. It is empty for points, and while it is unknown. */
  readonly epoch: string;
};

/** A place in no history of a store: a reader that continues there gets a reset. */
export const lostPlace: Place = { position: "0", epoch: "lost" };

export const isLost = ({ epoch }: Place): boolean => epoch === lostPlace.epoch;

export const isSamePlace = (a: Place | null, b: Place | null): boolean =>
  a?.position === b?.position && a?.epoch === b?.epoch;

/** Whether two places may be of the same history; true if an epoch is unknown. */
export const isSameHistory = (a: Place, b: Place): boolean =>
  a.epoch === b.epoch || a.epoch === "" || b.epoch === "";

export const isPosition = (text: string): boolean => /^(?:0|[1-9][0-9]{0,14})$/.test(text);
