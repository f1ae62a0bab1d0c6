/** Points and lines as topics: series of a store outside of the log, each with positions of its own. */

/** Conditions on lines; empty texts are none. */
export type LineFilter = {
  readonly run?: number | undefined;
  readonly nodeRank?: number | undefined;
  readonly rank?: number | undefined;
  readonly source: string;
  readonly level: string;
  readonly contains: string;
  readonly matches: string;
  readonly search: string;
};

export type SeriesTopic = {
  /** Equal topics have equal keys. */
  readonly key: string;
  /** A short digest of the key, which cursors have. */
  readonly name: string;
  readonly kind: "points" | "lines";
  readonly experiment: string;
  /** Empty for all trials, of all groups, of all metrics. */
  readonly trial: string;
  readonly group: string;
  readonly names: readonly string[];
  /** The filter of lines; absent for all. */
  readonly filter?: LineFilter;
};

/** A reader has everything up to here. */
export type Place = {
  /** Decimal digits. */
  readonly position: string;
  /**
   * The epoch names the history of the store that the position of lines is in. It is empty where it is not known, and
   * for points.
   */
  readonly epoch: string;
};

/** A place of no store's history: a reader from there gets a reset. */
export const lostPlace: Place = { position: "0", epoch: "lost" };

export const isLost = ({ epoch }: Place): boolean => epoch === lostPlace.epoch;

export const isSamePlace = (a: Place | null, b: Place | null): boolean =>
  a?.position === b?.position && a?.epoch === b?.epoch;

/** False only where both are known and differ. */
export const isSameHistory = (a: Place, b: Place): boolean =>
  a.epoch === b.epoch || a.epoch === "" || b.epoch === "";

export const isPosition = (text: string): boolean => /^(?:0|[1-9][0-9]{0,14})$/.test(text);
