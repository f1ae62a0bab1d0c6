/**
 * Reports that a trial cannot be searched by: what they lack, or how they contradict what the trial reported before.
 */
import type { EventData } from "@trainyard/contracts";
import type { JsonObject } from "@trainyard/experiment-config";
import type { RecordValidation } from "./commands.ts";
import { searchLimits } from "./limits.ts";
import { type Objective, objectivesOf } from "./objectives.ts";
import type { SearchPlan, TrialState } from "./state.ts";

type Missing = NonNullable<EventData<"ObservationRecorded">["missing"]>;

/** The maximum of reported metric names in an event: enough to recognise a misspelt one. */
const NAMES_SHOWN = 16;

/**
 * Not finite where the report does not say. Determined's training code counts batches without reporting them: they are
 * the step.
 */
export function timeOf({ step, scalars }: RecordValidation, timeMetric: string): number {
  if (timeMetric === "") return step;
  // Adding 0 makes 0 of -0, which JSON does not keep apart.
  return 0 + (scalars[timeMetric] ?? (timeMetric === "batches" ? step : Number.NaN));
}

/**
 * The metric or time metric that is not in the report; null for neither. Where both are absent it is the metric,
 * unless the search decides nothing by it.
 */
export function missingIn(
  command: RecordValidation,
  objectives: readonly Objective[],
  timeMetric: string,
  decidesByValues: boolean,
): Missing | null {
  const { scalars, nonNumeric = [] } = command;
  const lacking = objectives.find(({ metric }) => scalars[metric] === undefined);
  const lacksTime = !Number.isFinite(timeOf(command, timeMetric));
  if (lacking === undefined && !lacksTime) return null;
  const names = Object.keys(scalars).filter((name) => name !== timeMetric);
  const name =
    lacking === undefined || (lacksTime && !decidesByValues) ? timeMetric : lacking.metric;
  const isText = scalars[name] === undefined && nonNumeric.includes(name);
  return {
    name,
    reported: names.sort().slice(0, NAMES_SHOWN).map(cut),
    ...(isText ? { nonNumeric: true } : {}),
  };
}

const cut = (name: string): string => name.slice(0, searchLimits.shownCharactersMax);

export type Failure = { readonly rule: string; readonly evidence: JsonObject };

/** Null where the search decides nothing by what is missing. */
export function missingFailure(
  { name, reported, nonNumeric }: Missing,
  plan: SearchPlan,
  decidesByValues: boolean,
): Failure | null {
  const why = nonNumeric === true ? { non_numeric: true } : {};
  if (!objectivesOf(plan).some(({ metric }) => metric === name)) {
    const evidence = { time_metric: name, reported: [...reported], ...why };
    return { rule: "time_metric_missing", evidence };
  }
  if (!decidesByValues) return null;
  return { rule: "metric_missing", evidence: { metric: name, reported: [...reported], ...why } };
}

/**
 * Time that goes back within one run: no rung and no policy can be judged by it. Null where it does not. A later run
 * may repeat what an earlier one went through, and steps, which the platform counts, may be reported in any order.
 */
export function timeWentBack(
  trial: TrialState,
  { run }: RecordValidation,
  time: number,
  { timeMetric }: SearchPlan,
): Failure | null {
  if (timeMetric === "" || run !== trial.run || time >= trial.runTime) return null;
  const evidence = { time_metric: timeMetric, before: trial.runTime, time, run };
  return { rule: "time_metric_decreased", evidence };
}
