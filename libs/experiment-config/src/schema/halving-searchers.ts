/** The keys of the searchers that halve, and what does not fit together in them. */
import { z } from "zod";
import { hyperbandTrials } from "../halving.ts";
import { type JsonObject, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import { count, flag, number, positive, text } from "./values.ts";

/** More rungs than times can be halved: what goes beyond is a mistake, and each rung costs every trial a look. */
const RUNGS_MAX = 64;
const BRACKETS_MAX = 64;

const trials = z.int().min(1).max(configLimits.trialsPerSearchMax);
const rungs = z.int().min(1).max(RUNGS_MAX);
const timed = { max_time: positive, time_metric: text, max_concurrent_trials: count };

export const ashaKeys = {
  ...timed,
  max_trials: trials,
  min_time: positive,
  /** Less than a half kept, as the paper asks for: rungs would come too close. */
  divisor: number.min(2),
  resume: flag,
};
export const bohbKeys = { ...ashaKeys };
export const autoKeys = {
  ...timed,
  max_trials: trials,
  min_time: positive,
  divisor: number.min(2),
};
export const hyperbandKeys = { ...timed, max_trials: trials, divisor: number.min(2) };
export const asyncHalvingKeys = {
  ...timed,
  max_trials: trials,
  num_rungs: rungs,
  divisor: number.gt(1),
  resume: flag,
  stop_once: flag,
};
export const adaptiveAshaKeys = {
  ...timed,
  max_trials: trials,
  mode: z.enum(["aggressive", "standard", "conservative"]),
  max_rungs: rungs,
  bracket_rungs: z.array(rungs).max(BRACKETS_MAX),
  divisor: number.gt(1),
  resume: flag,
  stop_once: flag,
};

/** What has to be there. */
export const neededByHalving = {
  asha: ["max_trials", "max_time"],
  bohb: ["max_trials", "max_time"],
  auto: ["max_trials", "max_time"],
  async_halving: ["num_rungs", "max_trials", "max_time", "time_metric"],
  adaptive_asha: ["max_trials", "max_time", "time_metric"],
  hyperband: ["max_time"],
} as const;

/** Those whose rungs go up from a first one. */
const rising = ["asha", "bohb", "auto"];

export function checkHalving(
  searcher: JsonObject,
  note: (path: string, detail: string) => void,
): void {
  const name = valueAt(searcher, "name");
  const least = valueAt(searcher, "min_time");
  const most = valueAt(searcher, "max_time");
  if (typeof most !== "number") return;
  if (rising.some((other) => other === name) && typeof least === "number" && least > most) {
    note(
      "searcher.min_time",
      `must not be greater than max_time: ${least} is greater than ${most}`,
    );
  }
  if (name !== "hyperband" || valueAt(searcher, "max_trials") !== undefined) return;
  const divisor = valueAt(searcher, "divisor") ?? 3;
  if (typeof divisor !== "number" || divisor < 2) return;
  const all = hyperbandTrials(most, divisor).reduce((sum, bracket) => sum + bracket, 0);
  if (all > configLimits.trialsPerSearchMax) {
    note(
      "searcher.max_time",
      `makes ${all} trials with the divisor ${divisor}; the limit is ${configLimits.trialsPerSearchMax}: give a max_trials`,
    );
  }
}
