import type { EventData } from "@trainyard/contracts";
import type { BestRecord, TrialDocument } from "./documents.ts";

/** The number of kept validations: enough to find the last one before any checkpoint that a run may start from. */
const recentMax = 16;

/** The number of latest records with all their values. Earlier ones have the value of the searched metric. */
const wholeRecordsMax = 16;

/** The number of kept records. Each further one replaces an earlier one, whose neighbours are nearest to each other. */
const recordsMax = 256;

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
  const records = better ? bounded([...trial.records, record], metric) : trial.records;
  return {
    stepsCompleted: Math.max(trial.stepsCompleted, step),
    recent: [...trial.recent, record].slice(-recentMax),
    ...derived(records, record),
  };
}

/** Bounds the document of a trial, which is written with each of its validations. */
function bounded(records: readonly BestRecord[], metric: string): readonly BestRecord[] {
  const few = records.length > recordsMax ? records.toSpliced(mostCrowded(records), 1) : records;
  const whole = few.length - wholeRecordsMax;
  return few.map((one, index) =>
    index < whole ? { ...one, scalars: { [metric]: one.value } } : one,
  );
}

/** The index of the earlier record whose neighbours are nearest to each other: the others spread over all steps. */
function mostCrowded(records: readonly BestRecord[]): number {
  const gapAt = (index: number): number =>
    (records[index + 1]?.step ?? 0) - (records[index - 1]?.step ?? 0);
  let crowded = 1;
  for (let index = 2; index < records.length - wholeRecordsMax; index += 1) {
    if (gapAt(index) < gapAt(crowded)) crowded = index;
  }
  return crowded;
}

/** Returns the validations that remain when all beyond a step are superseded: none if the step is below 0. */
export function bestAfter(
  trial: Pick<TrialDocument, "records" | "recent" | "stepsCompleted">,
  afterStep: number,
): Changed {
  const upTo = (record: BestRecord): boolean => record.step <= afterStep;
  const records = trial.records.filter(upTo);
  const recent = trial.recent.filter(upTo);
  return {
    stepsCompleted: Math.max(0, Math.min(trial.stepsCompleted, afterStep)),
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
