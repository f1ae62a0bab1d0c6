/** The texts of the search view: the decision that ended a trial, and the steps of the search. */
import { type NestedValue, shownValue } from "../../components/nested.ts";
import { type Picture, type PictureDecision, type PictureTrial, numberOf } from "./layout.ts";

/**
 * Returns "rank 7 of 9, 3 kept, cutoff 0.412"; empty for a decision whose evidence has no rank. In a population some
 * members may not have reported: "rank 6 of 6, 8 members".
 */
export function standingOf({ evidence = {} }: PictureDecision): string {
  const { rank, of, places, kept, cutoff } = evidence;
  if (typeof rank !== "number" || typeof of !== "number") return "";
  const parts = [`rank ${rank} of ${of}`];
  if (typeof places === "number" && places !== of) parts.push(`${places} members`);
  if (typeof kept === "number") parts.push(`${kept} kept`);
  if (typeof cutoff === "number") parts.push(`cutoff ${Number(cutoff.toPrecision(6))}`);
  return parts.join(", ");
}

export type Neighbour = { readonly trial: number; readonly value: number };

/** The other trials in the decision's evidence, best first. */
export function neighboursOf({ evidence = {} }: PictureDecision): readonly Neighbour[] {
  const list = evidence["neighbours"] ?? evidence["competitors"];
  if (!Array.isArray(list)) return [];
  return list.flatMap((one): Neighbour[] => {
    const { trial, value } = one as Partial<Neighbour>;
    return typeof trial === "number" && typeof value === "number" ? [{ trial, value }] : [];
  });
}

/** A hyperparameter of a trial; `before` is the donor's value if a copy has changed it. */
export type ShownHyperparameter = {
  readonly name: string;
  readonly value: string;
  readonly before: string | null;
};

/** Adds to a trial's hyperparameters what its search has changed of the trial from which it continues. */
export function changedIn(
  pairs: readonly (readonly [name: string, value: string])[],
  { decisions }: PictureTrial,
): readonly ShownHyperparameter[] {
  const changes = decisions.find(({ event }) => event === "TrialProposed")?.evidence?.["changes"];
  const before = new Map(
    (Array.isArray(changes) ? changes : []).map((change) => {
      const { hyperparameter, from } = change as Partial<Change>;
      return [hyperparameter, shownValue(from)] as const;
    }),
  );
  return pairs.map(([name, value]) => {
    const was = before.get(name) ?? null;
    return { name, value, before: was === value ? null : was };
  });
}

type Change = { readonly hyperparameter: string; readonly from: NestedValue };

export type SearchStep = {
  readonly version: number;
  /** The trial's number; null for a decision about the search itself. */
  readonly trial: number | null;
  readonly decision: PictureDecision;
};

/** All decisions in the order in which they were recorded. */
export function stepsOf({ trials, decisions }: Picture): readonly SearchStep[] {
  const stepOf = (trial: PictureTrial | null, decision: PictureDecision): SearchStep => ({
    version: decision.at?.version ?? 0,
    trial: trial === null ? null : numberOf(trial.trial),
    decision,
  });
  return [
    ...decisions.map((decision) => stepOf(null, decision)),
    ...trials.flatMap((trial) => trial.decisions.map((decision) => stepOf(trial, decision))),
  ].toSorted((a, b) => a.version - b.version);
}

/** Returns a text such as "trial 3 suspended by halving". */
export function stepText({ trial, decision: { verb, rule } }: SearchStep): string {
  const who = trial === null ? "search" : `trial ${trial}`;
  return rule === "" ? `${who} ${verb}` : `${who} ${verb} by ${rule}`;
}

/** The index of the last step at or before a version; -1 before the first step. */
export function stepAt(steps: readonly SearchStep[], version: number): number {
  return steps.findLastIndex((step) => step.version <= version);
}
