/** The texts of the search view: the decision that ended a trial, and the steps of the search. */
import { type NestedValue, shownValue } from "../../components/nested.ts";
import { type Picture, type PictureDecision, type PictureTrial, numberOf } from "./layout.ts";

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

/** Returns a text such as "trial 3 suspended: it ranks 2 of 4 …". */
export function stepText({ trial, decision }: SearchStep): string {
  return `${trial === null ? "search" : `trial ${trial}`} ${decisionText(decision)}`;
}

/** Returns a text such as "suspended: it ranks 2 of 4 …"; only the verb if there is no sentence. */
export function decisionText({ verb, sentence }: PictureDecision): string {
  return sentence === "" ? verb : `${verb}: ${sentence}`;
}

/** The index of the last step at or before a version; -1 before the first step. */
export function stepAt(steps: readonly SearchStep[], version: number): number {
  return steps.findLastIndex((step) => step.version <= version);
}
