/** Reports that a search cannot use: they lack a metric, or their time decreases. */
import type { EventData } from "@trainyard/contracts";
import type { JsonObject } from "@trainyard/experiment-config";
import type { RecordValidation } from "./commands.ts";
import { searchLimits } from "./limits.ts";
import type { Objective } from "./objectives.ts";
import type { SearchPlan, TrialState } from "./state.ts";
import type { RuleName } from "./sentences.ts";

type Missing = NonNullable<EventData<"ObservationRecorded">["missing"]>;

/** The most metric names that an event records, enough to recognise a misspelt one. */
const NAMES_SHOWN = 16;

/**
 * Returns the report's time; NaN if the report lacks it. Determined's training code counts batches without reporting
 * them, so a missing `batches` is the step.
 */
export function timeOf({ step, scalars }: RecordValidation, timeMetric: string): number {
  if (timeMetric === "") return step;
  // Adding 0 turns -0 into 0, because JSON has no -0.
  return 0 + (scalars[timeMetric] ?? (timeMetric === "batches" ? step : Number.NaN));
}

/**
 * Returns the metric or time metric that the report lacks, or null. If both are missing, it is the metric, unless no
 * decision depends on it.
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

export type Failure = { readonly rule: RuleName; readonly evidence: JsonObject };

/** Returns the failure for a missing metric; null if no decision depends on it. */
export function missingFailure(
  { name, reported, nonNumeric }: Missing,
  plan: SearchPlan,
  decidesByValues: boolean,
): Failure | null {
  const why = nonNumeric === true ? { non_numeric: true } : {};
  if (!plan.objectives.some(({ metric }) => metric === name)) {
    const evidence = { time_metric: name, reported: [...reported], ...why };
    return { rule: "time_metric_missing", evidence };
  }
  if (!decidesByValues) return null;
  return { rule: "metric_missing", evidence: { metric: name, reported: [...reported], ...why } };
}

/**
 * Returns the failure for a time that decreases within a run, as neither rungs nor policies can judge by it; otherwise
 * null. A later run may repeat the times of an earlier one. Steps are counted by the platform and may be reported in
 * any order.
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
