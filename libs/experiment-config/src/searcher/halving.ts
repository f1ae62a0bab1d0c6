/** The searchers that halve: their trials meet at rungs, and a part of them continues. */
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
import { concurrent, type SearcherModule } from "./module.ts";

/** Searchers that halve count in a time: `time_metric` names it, and is empty for the training step. */
type Timed = {
  readonly max_time: number;
  readonly time_metric: string;
  readonly divisor: number;
  /** Trials that train at one time; what 0 means is the searcher's own. */
  readonly max_concurrent_trials: number;
};

type Trials = {
  /** The maximum of trials; in hyperband 0 means one round of the brackets as they come. */
  readonly max_trials: number;
};
/** Suspends trials at rungs and resumes the best (true), or stops those that are not good enough (false). */
type Resuming = { readonly resume: boolean };
type Rising = Timed &
  Trials & {
    /** The time of the first rung; of auto as long as it has not risen. */
    readonly min_time: number;
  };

/** More rungs than times can be halved: what goes beyond is a mistake, and each rung costs every trial a look. */
const RUNGS_MAX = 64;
const BRACKETS_MAX = 64;
/** How often the time of the first rung of asha is multiplied to reach the last. */
const HALVINGS = 3;

const timedKeys = ({ count, positive, text, trials }: Values): Shape => ({
  max_time: positive,
  time_metric: text,
  max_concurrent_trials: count,
  max_trials: trials,
});
const risingKeys = (values: Values): Shape => ({
  ...timedKeys(values),
  min_time: values.positive,
  /** Less than a half kept, as the paper asks for: rungs would come too close. */
  divisor: values.number.min(2),
});
/** Determined's older `stop_once` is the opposite of `resume`, which overrides it. */
const determinedKeys = (values: Values): Shape => ({
  ...timedKeys(values),
  divisor: values.number.gt(1),
  resume: values.flag,
  stop_once: values.flag,
});
const rungs = ({ z }: Values) => z.int().min(1).max(RUNGS_MAX);

/** The defaults of the papers; 3 wastes less than 4 on the learning curves that we measured. */
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

/** Checks searchers whose rungs rise from a first one. */
function checkRising(searcher: JsonObject, note: Note): void {
  const least = valueAt(searcher, "min_time");
  const most = valueAt(searcher, "max_time");
  if (typeof least !== "number" || typeof most !== "number" || least <= most) return;
  note("searcher.min_time", `must not be greater than max_time: ${least} is greater than ${most}`);
}

export const asha: SearcherModule<Rising & Resuming> = {
  keys: (values) => ({ ...risingKeys(values), resume: values.flag }),
  defaults: own,
  required: ["max_trials", "max_time"],
  trainsToTheEnd: false,
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
  keys: (values) => ({ ...determinedKeys(values), num_rungs: rungs(values) }),
  defaults: determined,
  required: ["num_rungs", "max_trials", "max_time", "time_metric"],
  trainsToTheEnd: false,
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
    /** Rungs of each bracket; without any they follow from the mode. */
    readonly bracket_rungs: number[];
  };

export const adaptiveAsha: SearcherModule<AdaptiveAsha> = {
  keys: (values) => ({
    ...determinedKeys(values),
    mode: values.z.enum(modes),
    max_rungs: rungs(values),
    bracket_rungs: values.z.array(rungs(values)).max(BRACKETS_MAX),
  }),
  defaults: { ...determined, ...adaptiveDefaults, bracket_rungs: [] },
  required: ["max_trials", "max_time", "time_metric"],
  trainsToTheEnd: false,
  read: (searcher) => ({
    ...readTimed(searcher, determined),
    mode: modes.find((mode) => mode === valueAt(searcher, "mode")) ?? adaptiveDefaults.mode,
    max_rungs: numberAt(searcher, "max_rungs", adaptiveDefaults.max_rungs),
    bracket_rungs: numbersAt(searcher, "bracket_rungs"),
    ...readResume(searcher, false),
  }),
};

export const hyperband: SearcherModule<Timed & Trials> = {
  keys: (values) => ({ ...timedKeys(values), divisor: values.number.min(2) }),
  defaults: own,
  required: ["max_time"],
  trainsToTheEnd: false,
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
 * The largest whole k with divisor^k ≤ x, 0 for x < divisor; counted in products, since log 1000 / log 10 is less than
 * 3 in floating point. No more than `most`, so that a divisor near 1 ends.
 */
export function floorLog(x: number, divisor: number, most: number): number {
  let k = 0;
  for (let product = divisor; product <= x && k < most; product *= divisor) k += 1;
  return k;
}

const HALVINGS_MAX = 64;

/**
 * The trials of one round of Hyperband's brackets, from that of the most halvings down to that of none (Li et al., JMLR
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
