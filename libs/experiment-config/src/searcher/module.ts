/**
 * A searcher as configurations know it: which keys it takes, what they are by default, what does not fit together in
 * them. Its algorithm is in libs/search, under the same name.
 */
import type { JsonObject } from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

export type SearcherModule<Own extends object = object> = {
  /**
   * The keys of its own, beside those that every searcher takes, made of the small schemas. A function of these:
   * reading a recorded configuration loads no schema library.
   */
  readonly keys: (values: Values) => Shape;
  /** The default of each key that may be absent. A default that follows from other keys is in `read`. */
  readonly defaults: JsonObject;
  readonly required: readonly string[];
  /** Whether its trials train until their code ends, unless `max_time` ends them: the others have rungs or segments. */
  readonly trainsToTheEnd: boolean;
  /** Why it cannot run against recorded trainings, where it cannot. */
  readonly unserved?: string;
  /** The contradictions in a searcher section. */
  readonly check?: (searcher: JsonObject, note: Note) => void;
  /** Its own keys, read from a section of any origin: what is absent or of a wrong type gets its default. */
  readonly read: (searcher: JsonObject) => Own;
};

/** Trials that train at one time, where nobody says. */
export const concurrent = { max_concurrent_trials: 16 };

/** A search that lost its number of trials has one. */
export const TRIALS_UNKNOWN = 1;
