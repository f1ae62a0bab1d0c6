/**
 * The configuration of a searcher: its keys, their defaults, and rules across them. Its algorithm is in libs/search,
 * under the same name.
 */
import type { FieldProblem } from "@trainyard/kernel";
import type { HyperparameterSpace } from "../hyperparameters/hyperparameters.ts";
import type { JsonObject } from "../json.ts";
import { configLimits } from "../limits.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";

/** The facts about a searcher that others need, which depend on its name alone. */
export type SearcherFacts = {
  /** True if trials train until their code ends or until `max_time`; false for searchers with rungs or segments. */
  readonly trainsToTheEnd: boolean;
  /** True if the search is one trial, which may train longer when the search continues. */
  readonly hasOneTrial: boolean;
  /**
   * True if the search may continue after its end. False if its decisions depend on trials that were open when they
   * were made (rungs, populations), on a recorded schedule, or on a client that has left.
   */
  readonly continues: boolean;
  /**
   * True if a trial may start from any checkpoint of another trial, not only from its latest: no checkpoint of the
   * search is then deleted while it runs.
   */
  readonly startsFromCheckpoints: boolean;
  /** True if trials continue from others by design, so that hyperparameters change along a line of trials. */
  readonly hasLines: boolean;
  /** True if the search cannot use a trial without the searcher's metric: its decisions compare values. */
  readonly needsMetric: boolean;
  /** The clause that says which points the searcher tries in place of given ones; null if it tries given points. */
  readonly ownPoints: string | null;
};

/** `problemsInSpace` is a method, so that one table can contain searchers with different keys. */
export type SearcherModule<Own extends object = object> = SearcherFacts & {
  /**
   * The searcher's specific keys, besides the common ones, built from the small schemas. It is a function of the
   * schemas, so that reading a recorded configuration loads no schema library.
   */
  readonly keys: (values: Values) => Shape;
  /** The default of each optional key. `read` computes the defaults that depend on other keys. */
  readonly defaults: JsonObject;
  readonly required: readonly string[];
  /** Reports keys that contradict the space. */
  problemsInSpace(searcher: Own, space: HyperparameterSpace): readonly FieldProblem[];
  /** Why the searcher cannot run against recorded trainings; absent if it can. */
  readonly unserved?: string;
  /** Reports contradictions in a searcher section. */
  readonly check?: (searcher: JsonObject, note: Note) => void;
  /** Reads the specific keys from any section: an absent value, or one of the wrong type, becomes the default. */
  readonly read: (searcher: JsonObject) => Own;
};

/** For searchers whose keys name no hyperparameters. */
export const fitsEverySpace = (): readonly FieldProblem[] => [];

/** The default number of trials that train concurrently. */
export const concurrent = { max_concurrent_trials: 16 };

export const divisorMeans = "One in this many trials of a rung continues to the next rung.";

/** The keys that every searcher accepts, so that one can be tried in place of another; some ignore some of them. */
export const sharedKeys = ({ count, number, positive, text, z }: Values) => ({
  max_trials: z
    .int()
    .min(1)
    .max(configLimits.trialsPerSearchMax)
    .describe("How many trials the search has."),
  divisor: number.gt(1).describe(divisorMeans),
  max_time: positive.describe("Where the longest trials end, in units of time_metric."),
  time_metric: text.describe(
    "The name of the reported value that counts as time. Default: the training step.",
  ),
  max_concurrent_trials: count.describe(
    `How many trials train at one time. Default ${concurrent.max_concurrent_trials}.`,
  ),
});

/** Returns the schemas of some of the shared keys. */
export function shared(values: Values, names: readonly (keyof ReturnType<typeof sharedKeys>)[]) {
  const all = sharedKeys(values);
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}

/** The number of trials of a recorded search that has lost this value. */
export const TRIALS_UNKNOWN = 1;
