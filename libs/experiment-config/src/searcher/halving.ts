/** The searchers with halving: their trials are compared at rungs, and a fraction of them continues. */
import {
  flagAt,
  type JsonObject,
  numberAt,
  numbersAt,
  numbersOr,
  textAt,
  valueAt,
} from "../json.ts";
import { configLimits } from "../limits.ts";
import type { Note } from "../parts/part.ts";
import type { Shape, Values } from "../parts/values.ts";
import {
  concurrent,
  divisorMeans,
  fitsEverySpace,
  type SearcherFacts,
  type SearcherModule,
  shared,
} from "./module.ts";

/** `time_metric` names the time in which halving searchers count; empty for the training step. */
type Timed = {
  readonly max_time: number;
  readonly time_metric: string;
  readonly divisor: number;
  /** The number of trials that train concurrently; each searcher defines the meaning of 0. */
  readonly max_concurrent_trials: number;
};

type Trials = {
  /** The maximum number of trials; in hyperband, 0 means one round of all brackets. */
  readonly max_trials: number;
};
/** True: trials are suspended at rungs, and the best are resumed. False: insufficient trials are stopped. */
type Resuming = { readonly resume: boolean };
type Rising = Timed &
  Trials & {
    /** The time of the first rung; in auto, its initial time, which may rise. */
    readonly min_time: number;
  };

/** More rungs than a time can be halved are a mistake, and each rung adds work for every trial. */
const RUNGS_MAX = 64;
const BRACKETS_MAX = 64;
/** The number of multiplications by the divisor from the first rung of asha to the last. */
const HALVINGS = 3;

const timedKeys = (values: Values): Shape =>
  shared(values, ["max_time", "time_metric", "max_concurrent_trials", "max_trials"]);
const resume = ({ flag }: Values) =>
  flag.describe(
    "Suspend trials at rungs and resume the best (true), or stop the others at once (false).",
  );
const risingKeys = (values: Values): Shape => ({
  ...timedKeys(values),
  min_time: values.positive.describe(
    "The first rung, in units of time_metric. Default max_time / divisor³.",
  ),
  /** At least half of the trials must be dropped, as in the paper: otherwise rungs would be too close together. */
  divisor: values.number.min(2).describe(divisorMeans),
});
/** Determined's older `stop_once` is the opposite of `resume`; `resume` wins if both are given. */
const determinedKeys = (values: Values): Shape => ({
  ...timedKeys(values),
  ...shared(values, ["divisor"]),
  resume: resume(values),
  ...stopOnceKey(values),
});
const rungs = ({ z }: Values) => z.int().min(1).max(RUNGS_MAX);
export const stopOnceKey = ({ flag }: Values): Shape => ({
  stop_once: flag.describe("Determined's opposite of resume."),
});
export const rungsKey = (values: Values): Shape => ({
  num_rungs: rungs(values).describe("The number of rungs."),
});
export const bracketKeys = (values: Values): Shape => ({
  mode: values.z
    .enum(modes)
    .describe(
      "How many brackets there are: aggressive, standard or conservative. Default standard.",
    ),
  max_rungs: rungs(values).describe(
    `The most rungs of a bracket. Default ${adaptiveDefaults.max_rungs}.`,
  ),
  bracket_rungs: values.z
    .array(rungs(values))
    .max(BRACKETS_MAX)
    .describe("The number of rungs of each bracket. Default: by the mode."),
});

/** The defaults of the papers, except the divisor: 3 wastes less than 4 on measured learning curves. */
const own = { ...concurrent, divisor: 3 };
const determined = { ...concurrent, divisor: 4 };

const readTimed = (searcher: JsonObject, defaults: typeof own): Timed & Trials => ({
  time_metric: textAt(searcher, "time_metric"),
  ...numbersOr(searcher, { ...defaults, max_time: 1, max_trials: 0 }),
});

function readRising(searcher: JsonObject): Rising {
  const timed = readTimed(searcher, own);
  const first = Math.max(1, Math.floor(timed.max_time / timed.divisor ** HALVINGS));
  return { ...timed, min_time: numberAt(searcher, "min_time", first) };
}

const readResume = (searcher: JsonObject, otherwise: boolean): Resuming => ({
  resume: flagAt(searcher, "resume", !flagAt(searcher, "stop_once", !otherwise)),
});

/** Checks searchers whose rungs begin at `min_time`. */
function checkRising(searcher: JsonObject, note: Note): void {
  const least = valueAt(searcher, "min_time");
  const most = valueAt(searcher, "max_time");
  if (typeof least !== "number" || typeof most !== "number" || least <= most) return;
  note("searcher.min_time", `must not be greater than max_time: ${least} is greater than ${most}`);
}

/** A trial that continues after a rung starts from its own checkpoint. */
const halvingFacts: SearcherFacts = {
  trainsToTheEnd: false,
  hasOneTrial: false,
  continues: false,
  startsFromCheckpoints: false,
  hasLines: false,
  needsMetric: true,
  ownPoints: null,
};

export const asha: SearcherModule<Rising & Resuming> = {
  keys: (values) => ({ ...risingKeys(values), resume: resume(values) }),
  defaults: own,
  required: ["max_trials", "max_time"],
  ...halvingFacts,
  problemsInSpace: fitsEverySpace,
  check: checkRising,
  read: (searcher) => ({ ...readRising(searcher), ...readResume(searcher, true) }),
};

/** The searcher bohb is asha in which a model proposes most trials. */
export const bohb: typeof asha = { ...asha };

/** The searcher auto is asha in promotion form, where a model proposes most trials and the first rung may rise. */
export const auto: SearcherModule<Rising> = {
  ...asha,
  keys: risingKeys,
  read: readRising,
};

export const asyncHalving: SearcherModule<
  Timed & Trials & Resuming & { readonly num_rungs: number }
> = {
  keys: (values) => ({ ...determinedKeys(values), ...rungsKey(values) }),
  defaults: determined,
  required: ["num_rungs", "max_trials", "max_time", "time_metric"],
  ...halvingFacts,
  problemsInSpace: fitsEverySpace,
  read: (searcher) => ({
    ...readTimed(searcher, determined),
    num_rungs: numberAt(searcher, "num_rungs", 1),
    ...readResume(searcher, false),
  }),
};

const modes = ["aggressive", "standard", "conservative"] as const;
export const adaptiveDefaults = {
  divisor: determined.divisor,
  max_rungs: 5,
  mode: "standard",
} as const;

type AdaptiveAsha = Timed &
  Trials &
  Resuming & {
    readonly mode: (typeof modes)[number];
    readonly max_rungs: number;
    /** The numbers of rungs of the brackets; if empty, they are derived from the mode. */
    readonly bracket_rungs: number[];
  };

export const adaptiveAsha: SearcherModule<AdaptiveAsha> = {
  keys: (values) => ({ ...determinedKeys(values), ...bracketKeys(values) }),
  defaults: { ...determined, ...adaptiveDefaults, bracket_rungs: [] },
  required: ["max_trials", "max_time", "time_metric"],
  ...halvingFacts,
  problemsInSpace: fitsEverySpace,
  read: (searcher) => ({
    ...readTimed(searcher, determined),
    mode: modes.find((mode) => mode === valueAt(searcher, "mode")) ?? adaptiveDefaults.mode,
    max_rungs: numberAt(searcher, "max_rungs", adaptiveDefaults.max_rungs),
    bracket_rungs: numbersAt(searcher, "bracket_rungs"),
    ...readResume(searcher, false),
  }),
};

export const hyperband: SearcherModule<Timed & Trials> = {
  keys: (values) => ({
    ...timedKeys(values),
    divisor: values.number.min(2).describe(divisorMeans),
  }),
  defaults: own,
  required: ["max_time"],
  ...halvingFacts,
  problemsInSpace: fitsEverySpace,
  check(searcher, note) {
    const most = valueAt(searcher, "max_time");
    const divisor = valueAt(searcher, "divisor") ?? own.divisor;
    if (valueAt(searcher, "max_trials") !== undefined || typeof most !== "number") return;
    if (typeof divisor !== "number" || divisor < 2) return;
    const all = hyperbandTrials(most, divisor).reduce((sum, bracket) => sum + bracket, 0);
    const limit = configLimits.trialsPerSearchMax;
    if (all <= limit) return;
    note(
      "searcher.max_time",
      `makes ${all} trials with the divisor ${divisor}; the limit is ${limit}: give a max_trials`,
    );
  },
  read: (searcher) => readTimed(searcher, own),
};

/**
 * Returns the largest integer k with divisor^k ≤ x, 0 for x < divisor. It uses products because log 1000 / log 10 is
 * less than 3 in floating point. The result is at most `most`, so that the loop ends for a divisor near 1.
 */
export function floorLog(x: number, divisor: number, most: number): number {
  let k = 0;
  for (let product = divisor; product <= x && k < most; product *= divisor) k += 1;
  return k;
}

const HALVINGS_MAX = 64;

/**
 * Returns the numbers of trials in one round of Hyperband's brackets, from the most halvings to none (Li et al., JMLR
 * 18-185, algorithm 1): ⌈(s_max + 1) η^s / (s + 1)⌉.
 */
export function hyperbandTrials(maxTime: number, divisor: number): number[] {
  const most = floorLog(maxTime, divisor, HALVINGS_MAX);
  const trials: number[] = [];
  for (let halvings = 0, power = 1; halvings <= most; halvings += 1, power *= divisor) {
    trials.unshift(Math.ceil(((most + 1) * power) / (halvings + 1)));
  }
  return trials;
}
