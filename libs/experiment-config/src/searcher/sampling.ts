/** The searchers that propose complete trials: each trains until its code ends or until `max_time`. */
import { flagAt, type JsonObject, numbersOr, optionalNumber, textAt } from "../json.ts";
import type { Shape, Values } from "../parts/values.ts";
import {
  concurrent,
  fitsEverySpace,
  shared,
  type SearcherFacts,
  type SearcherModule,
  TRIALS_UNKNOWN,
} from "./module.ts";
import { objectiveKeys, readObjectives, type SeveralObjectives } from "./objectives.ts";

export type Ending = {
  /** The time at which trials are stopped, in units of the time metric. */
  readonly max_time?: number;
  /** The name of the metric that counts as time; absent for the training step. */
  readonly time_metric?: string;
};
type Trials = {
  readonly max_trials: number;
  /** The maximum number of active trials; 0 for no limit. */
  readonly max_concurrent_trials: number;
};

const endingKeys = (values: Values): Shape => shared(values, ["max_time", "time_metric"]);
const trialKeys = (values: Values): Shape =>
  shared(values, ["max_trials", "max_concurrent_trials"]);

function readEnding(searcher: JsonObject): Ending {
  const time_metric = textAt(searcher, "time_metric");
  return {
    ...optionalNumber(searcher, "max_time"),
    ...(time_metric === "" ? {} : { time_metric }),
  };
}

const readTrials = (searcher: JsonObject): Trials & Ending => ({
  ...numbersOr(searcher, { ...concurrent, max_trials: TRIALS_UNKNOWN }),
  ...readEnding(searcher),
});

export const single: SearcherModule<Ending> = {
  keys: endingKeys,
  defaults: {},
  required: [],
  trainsToTheEnd: true,
  hasOneTrial: true,
  continues: true,
  startsFromCheckpoints: false,
  hasLines: false,
  needsMetric: false,
  ownPoints: null,
  problemsInSpace: fitsEverySpace,
  read: readEnding,
};

const samplingFacts: SearcherFacts = {
  trainsToTheEnd: true,
  hasOneTrial: false,
  continues: true,
  startsFromCheckpoints: false,
  hasLines: false,
  needsMetric: false,
  ownPoints: null,
};

export const random: SearcherModule<Trials & Ending & SeveralObjectives> = {
  keys: (values) => ({ ...trialKeys(values), ...objectiveKeys(values), ...endingKeys(values) }),
  defaults: concurrent,
  required: ["max_trials"],
  ...samplingFacts,
  problemsInSpace: fitsEverySpace,
  read: (searcher) => ({ ...readTrials(searcher), ...readObjectives(searcher) }),
};

export const sobol: typeof random = { ...random };

type Grid = Ending &
  SeveralObjectives & {
    /** The maximum number of grid points to try; they are taken from the grid's end. */
    readonly max_trials?: number;
    readonly max_concurrent_trials: number;
  };

export const grid: SearcherModule<Grid> = {
  keys: random.keys,
  defaults: concurrent,
  required: [],
  ...samplingFacts,
  ownPoints: "which tries its own points",
  problemsInSpace: fitsEverySpace,
  unserved: "recorded trainings have no grid of their own",
  read: (searcher) => ({
    ...optionalNumber(searcher, "max_trials"),
    ...numbersOr(searcher, concurrent),
    ...readEnding(searcher),
    ...readObjectives(searcher),
  }),
};

type Tpe = Trials &
  Ending &
  SeveralObjectives & {
    /** Whether one model covers all hyperparameters together, or each has its own. */
    readonly multivariate: boolean;
  };

export const tpe: SearcherModule<Tpe> = {
  keys: (values) => ({
    ...random.keys(values),
    multivariate: values.flag.describe(
      "One model of all hyperparameters together, and not one of each. Default true.",
    ),
  }),
  defaults: { ...concurrent, multivariate: true },
  required: ["max_trials"],
  ...samplingFacts,
  needsMetric: true,
  problemsInSpace: fitsEverySpace,
  read: (searcher) => ({
    ...random.read(searcher),
    multivariate: flagAt(searcher, "multivariate", true),
  }),
};

export const gp: SearcherModule<Trials & Ending> = {
  keys: (values) => ({ ...trialKeys(values), ...endingKeys(values) }),
  defaults: concurrent,
  required: ["max_trials"],
  ...samplingFacts,
  needsMetric: true,
  problemsInSpace: fitsEverySpace,
  read: readTrials,
};

/** The searcher whose decisions an external client makes. */
type Custom = {
  /** The maximum number of trials that the client may propose; 0 for no limit. */
  readonly max_trials: number;
  /** The maximum number of active trials that are not suspended; 0 for no limit. */
  readonly max_concurrent_trials: number;
  /** The time at which a trial without a client's target is stopped; absent if its code decides. */
  readonly max_time?: number;
  /** The unit of training targets; empty for the training step. */
  readonly time_metric: string;
};

export const custom: SearcherModule<Custom> = {
  keys: (values) => ({
    ...trialKeys(values),
    max_concurrent_trials: values.count.describe(
      "How many trials train at one time. Default: no limit.",
    ),
    /** Determined's unit of training lengths, without effect here: the client's targets are in the time metric. */
    unit: values.z.enum(["batches", "records", "epochs"]),
    ...endingKeys(values),
  }),
  defaults: {},
  required: [],
  trainsToTheEnd: true,
  hasOneTrial: false,
  continues: false,
  startsFromCheckpoints: true,
  hasLines: false,
  needsMetric: true,
  ownPoints: "whose client proposes its own points",
  problemsInSpace: fitsEverySpace,
  unserved: "its operations come from a process outside",
  read: (searcher) => ({
    ...numbersOr(searcher, { max_trials: 0, max_concurrent_trials: 0 }),
    ...optionalNumber(searcher, "max_time"),
    time_metric: textAt(searcher, "time_metric"),
  }),
};
