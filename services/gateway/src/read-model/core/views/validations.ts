import { utf8Bytes } from "@trainyard/kernel";
import type { DocumentSet, FirstValues, TrialDocument, ValidationRecord } from "./documents.ts";
import { validationKey } from "./documents.ts";

/** The number of kept validations: enough to find the last one before any checkpoint that a run may start from. */
const recentMax = 16;

/** The number of latest records whose values are kept. Of earlier ones the value of the searched metric is known. */
const wholeRecordsMax = 16;

/** The number of kept records. Each further one replaces an earlier one, whose neighbours are nearest to each other. */
const recordsMax = 256;

/** The bytes of the first values of a validation, as JSON. */
const firstValuesBytes = 8 * 1024;

type Validated = Pick<
  TrialDocument,
  "id" | "stepsCompleted" | "records" | "recent" | "latest" | "best" | "bestValue"
>;

type Scalars = Readonly<Record<string, number>>;

type Validation = { readonly step: number; readonly scalars: Scalars; readonly position: number };

/**
 * Adds a validation to a trial. A value that is not finite is never the best. A step may have several validations, each
 * with other metrics: the latest and the best one have the values of all.
 */
export function recordValidation(
  documents: DocumentSet,
  trial: Validated,
  { step, scalars: reported, position }: Validation,
  { metric, smallerIsBetter }: { readonly metric: string; readonly smallerIsBetter: boolean },
): void {
  const value = Object.hasOwn(reported, metric) ? (reported[metric] ?? Number.NaN) : Number.NaN;
  const before = trial.recent.at(-1)?.step === step ? trial.latest?.values : undefined;
  const scalars = before === undefined ? reported : withOthers(reported, before);
  const record: ValidationRecord = { step, value, at: position };
  const best = trial.records.at(-1);
  const isBetter =
    Number.isFinite(value) &&
    (best === undefined || (smallerIsBetter ? value < best.value : value > best.value));
  const records = isBetter ? bounded([...trial.records, record]) : trial.records;
  const recent = [...trial.recent, record].slice(-recentMax);
  const values = firstValues(position, scalars);
  const isOfBest = !isBetter && best?.step === step && trial.best !== undefined;
  documents.update("trial", trial.id, () => ({
    ...{ records, recent, latest: values },
    stepsCompleted: Math.max(trial.stepsCompleted, step),
    ...(isBetter ? { best: values, bestValue: value } : {}),
    ...(isOfBest ? { best: withMore(trial.best, reported) } : {}),
  }));
  const id = validationKey(trial.id, position);
  documents.put({ kind: "validation", id, parent: trial.id, ordinal: position, doc: { scalars } });
  forget(documents, trial, { records, recent });
}

/**
 * Removes the validations of a trial beyond a step, all if it is below 0. The values of those that are left are in the
 * set if they are kept.
 */
export function supersedeValidations(
  documents: DocumentSet,
  trial: TrialDocument,
  metric: string,
  afterStep: number,
): void {
  const upTo = (record: ValidationRecord): boolean => record.step <= afterStep;
  const records = trial.records.filter(upTo);
  const recent = trial.recent.filter(upTo);
  const { latest, best } = remaining(trial, afterStep);
  const valuesOf = ({ at, value }: ValidationRecord): FirstValues => {
    const kept = documents.get("validation", validationKey(trial.id, at));
    return firstValues(at, kept?.scalars ?? { [metric]: value });
  };
  documents.replace("trial", trial.id, (doc) => {
    const { latest: _latest, best: _best, bestValue: _value, ...rest } = doc;
    return {
      ...rest,
      ...{ records, recent, stepsCompleted: Math.max(0, Math.min(doc.stepsCompleted, afterStep)) },
      ...(latest === undefined ? {} : { latest: valuesOf(latest) }),
      ...(best === undefined ? {} : { best: valuesOf(best), bestValue: best.value }),
    };
  });
  forget(documents, trial, { records, recent });
}

/** Returns the latest and the best validation that are left when all beyond a step are superseded. */
export function remaining(
  { records, recent }: Pick<TrialDocument, "records" | "recent">,
  afterStep: number,
): {
  readonly latest: ValidationRecord | undefined;
  readonly best: ValidationRecord | undefined;
} {
  const upTo = (record: ValidationRecord): boolean => record.step <= afterStep;
  const best = records.findLast(upTo);
  return { latest: recent.findLast(upTo) ?? best, best };
}

/** Returns the values of a validation, the first ones of very many. */
export function firstValues(at: number, scalars: Scalars): FirstValues {
  const all = Object.entries(scalars);
  let bytes = 0;
  const first = all.findIndex(([name]) => {
    bytes += utf8Bytes(JSON.stringify(name)) + numberBytes;
    return bytes > firstValuesBytes;
  });
  const isWhole = first < 0;
  return { at, values: isWhole ? scalars : Object.fromEntries(all.slice(0, first)), isWhole };
}

function withMore(best: FirstValues, more: Scalars): FirstValues {
  const { values, isWhole } = firstValues(best.at, withOthers(best.values, more));
  return { at: best.at, values, isWhole: isWhole && best.isWhole };
}

/** Adds the values of another validation of the same step behind the own ones, which win. */
const withOthers = (own: Scalars, others: Scalars): Scalars => ({ ...own, ...others, ...own });

/** The longest number in JSON. */
const numberBytes = 26;

/** Bounds the document of a trial, which is written with each of its validations. */
function bounded(records: readonly ValidationRecord[]): readonly ValidationRecord[] {
  return records.length > recordsMax ? records.toSpliced(mostCrowded(records), 1) : records;
}

/** The index of the earlier record whose neighbours are nearest to each other: the others spread over all steps. */
function mostCrowded(records: readonly ValidationRecord[]): number {
  const gapAt = (index: number): number =>
    (records[index + 1]?.step ?? 0) - (records[index - 1]?.step ?? 0);
  let crowded = 1;
  for (let index = 2; index < records.length - wholeRecordsMax; index += 1) {
    if (gapAt(index) < gapAt(crowded)) crowded = index;
  }
  return crowded;
}

type Kept = Pick<TrialDocument, "records" | "recent">;

const positionsOf = ({ records, recent }: Kept): ReadonlySet<number> =>
  new Set([...records.slice(-wholeRecordsMax), ...recent].map(({ at }) => at));

/** Removes the values of validations that are no longer kept. */
function forget(documents: DocumentSet, { id, ...before }: Kept & { id: string }, after: Kept) {
  const kept = positionsOf(after);
  for (const at of positionsOf(before)) {
    if (!kept.has(at)) documents.remove({ kind: "validation", id: validationKey(id, at) });
  }
}
