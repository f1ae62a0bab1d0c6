/**
 * The configuration of a searcher: its keys, their defaults, and rules across them. Its algorithm is in libs/search,
 * under the same name.
 */
import type { JsonObject } from "../json.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

export type SearcherModule<Own extends object = object> = {
  /**
   * The searcher's specific keys, besides the common ones, built from the small schemas. It is a function of the
   * schemas, so that reading a recorded configuration loads no schema library.
   */
  readonly keys: (values: Values) => Shape;
  /** The default of each optional key. `read` computes the defaults that depend on other keys. */
  readonly defaults: JsonObject;
  readonly required: readonly string[];
  /** True if trials train until their code ends or until `max_time`; false for searchers with rungs or segments. */
  readonly trainsToTheEnd: boolean;
  /** Why the searcher cannot run against recorded trainings; absent if it can. */
  readonly unserved?: string;
  /** Reports contradictions in a searcher section. */
  readonly check?: (searcher: JsonObject, note: Note) => void;
  /** Reads the specific keys from any section: an absent value, or one of the wrong type, becomes the default. */
  readonly read: (searcher: JsonObject) => Own;
};

/** The default number of trials that train concurrently. */
export const concurrent = { max_concurrent_trials: 16 };

/** The number of trials of a recorded search that has lost this value. */
export const TRIALS_UNKNOWN = 1;
