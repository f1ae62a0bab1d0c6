import type { EventData } from "@trainyard/contracts";
import type { BestRecord, TrialDocument } from "./documents.ts";

/** The number of kept validations: enough to find the last one before any checkpoint that a run may start from. */
const recentMax = 16;

type Changed = Pick<
  TrialDocument,
  "stepsCompleted" | "latestValidation" | "bestValidation" | "records" | "recent"
> & { readonly bestValue?: number };

/** Adds a validation to a trial. A value that is not finite is never the best. */
export function recordValidation(
  trial: Pick<TrialDocument, "records" | "recent" | "stepsCompleted">,
  { step, scalars }: EventData<"ValidationReported">,
  metric: string,
  smallerIsBetter: boolean,
): Changed {
  const value = Object.hasOwn(scalars, metric) ? scalars[metric] : undefined;
  const record: BestRecord = { step, scalars, value: value ?? Number.NaN };
  const best = trial.records[trial.records.length - 1];
  const better =
    Number.isFinite(record.value) &&
    (best === undefined ||
      (smallerIsBetter ? record.value < best.value : record.value > best.value));
  const records = better ? [...trial.records, record] : trial.records;
  return {
    stepsCompleted: Math.max(trial.stepsCompleted, step),
    recent: [...trial.recent, record].slice(-recentMax),
    ...derived(records, record),
  };
}

/** Returns the validations that remain when all beyond a step are superseded. */
export function bestAfter(
  trial: Pick<TrialDocument, "records" | "recent" | "stepsCompleted">,
  afterStep: number,
): Changed {
  const upTo = (record: BestRecord): boolean => record.step <= afterStep;
  const records = trial.records.filter(upTo);
  const recent = trial.recent.filter(upTo);
  return {
    stepsCompleted: Math.min(trial.stepsCompleted, afterStep),
    recent,
    ...derived(records, recent[recent.length - 1] ?? records[records.length - 1]),
  };
}

function derived(
  records: readonly BestRecord[],
  latest: BestRecord | undefined,
): Pick<Changed, "records" | "latestValidation" | "bestValidation" | "bestValue"> {
  const best = records[records.length - 1];
  return {
    records,
    latestValidation: latest?.scalars ?? {},
    bestValidation: best?.scalars ?? {},
    ...(best === undefined ? {} : { bestValue: best.value }),
  };
}
