/** The parts of trials and tasks of which their documents have only the latest or the first ones. */
import type { Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import {
  type FirstValues,
  type TrialDocument,
  type ValidationRecord,
  validationKey,
} from "../../read-model/core/views/documents.ts";
import { apiLimits } from "../limits.ts";

/** Returns a trial with the latest runs, as many as are shown, and all values of its latest and best validations. */
export async function wholeTrial(backend: Backend, trial: TrialDocument): Promise<TrialDocument> {
  const [runs, latest, best] = await Promise.all([
    shownRuns(backend, trial),
    wholeValues(backend, trial.id, trial.latest),
    wholeValues(backend, trial.id, trial.best),
  ]);
  return {
    ...trial,
    runs,
    ...(latest === undefined ? {} : { latest }),
    ...(best === undefined ? {} : { best }),
  };
}

type Running = { readonly id: string; readonly runs: readonly Plain<Run>[] };

/** Returns the latest runs of a trial or a task. */
export async function shownRuns(
  { parts }: Backend,
  { id, runs }: Running,
): Promise<readonly Plain<Run>[]> {
  if ((runs[0]?.number ?? 1) === 1) return runs;
  const limit = apiLimits.shownRuns - runs.length;
  const earlier = { parent: id, limit, newestFirst: true };
  const rows = await parts.documents.list(parts.pool, "run", earlier);
  return [...rows.map(({ doc }) => doc).reverse(), ...runs];
}

async function wholeValues(
  backend: Backend,
  trial: string,
  first: FirstValues | undefined,
): Promise<FirstValues | undefined> {
  if (first === undefined || first.isWhole) return first;
  const values = await valuesOf(backend, trial, first);
  return values === undefined ? first : { ...first, values };
}

/** Returns all values of a validation; undefined if they are not kept. */
export async function valuesOf(
  { parts }: Backend,
  trial: string,
  record: Pick<ValidationRecord, "at"> | undefined,
): Promise<Readonly<Record<string, number>> | undefined> {
  if (record === undefined) return undefined;
  const key = validationKey(trial, record.at);
  return (await parts.documents.get(parts.pool, "validation", key))?.scalars;
}
