/**
 * The memory of a search by several metrics: each trial's values in its last report that had all of them, and
 * the trials that have ended with such, of more than `MOST` the best ones. Multiobjective TPE (Y. Ozaki, Y.
 * Tanigaki, S. Watanabe, M. Onishi, GECCO 2020) parts the trials by their fronts; within the front that is parted we
 * take the loneliest (`analysis/pareto.ts`) where it adds up hypervolumes, which no longer is cheap with more than
 * three metrics.
 */
import { bestByFronts } from "../analysis/pareto.ts";
import { objectivesOf, scoresOf, valuesOfAll } from "../objectives.ts";
import type { SearchPlan } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";

/** Contenders are thinned out to half of this when they are as many: fronts of more take too long. */
const MOST = 1_000;

type Contender = { readonly trial: number; readonly scores: readonly number[] };

export type SeveralState = {
  /** The latest values of trial n at index n - 1; empty before a report that had all metrics. */
  readonly latest: readonly (readonly number[])[];
  readonly contenders: readonly Contender[];
};

/** Null where the search has one metric alone. */
export function newSeveral(plan: SearchPlan): SeveralState | null {
  if (objectivesOf(plan).length === 1) return null;
  let contenders: readonly Contender[] = [];
  for (const [index, { values }] of plan.earlier.entries()) {
    const scores = scoresIn(plan, values);
    if (scores === null) continue;
    contenders = contendersWith(contenders, index + 1 - plan.earlier.length, scores);
  }
  return { latest: [], contenders };
}

function scoresIn(
  plan: SearchPlan,
  values: Readonly<Record<string, number>>,
): readonly number[] | null {
  const objectives = objectivesOf(plan);
  const all = valuesOfAll(objectives, values);
  return all === null ? null : scoresOf(objectives, all);
}

export function proposeSeveral({ latest }: SeveralState, undo: UndoLog): void {
  undo.push(latest, []);
}

/** A report, maybe after the end of a trial that was trained. */
export function observeSeveral(
  memory: SeveralState,
  plan: SearchPlan,
  trial: number,
  values: Readonly<Record<string, number>>,
  wasTrained: boolean,
  undo: UndoLog,
): void {
  const scores = scoresIn(plan, values);
  if (scores === null) return;
  undo.set(memory.latest, trial - 1, scores);
  if (wasTrained) contend(memory, trial, scores, undo);
}

/** The end of a trial that was trained. */
export function endSeveral(memory: SeveralState, trial: number, undo: UndoLog): void {
  const scores = memory.latest[trial - 1] ?? [];
  if (scores.length > 0) contend(memory, trial, scores, undo);
}

function contend(
  memory: SeveralState,
  trial: number,
  scores: readonly number[],
  undo: UndoLog,
): void {
  undo.set(memory, "contenders", contendersWith(memory.contenders, trial, scores));
}

function contendersWith(
  before: readonly Contender[],
  trial: number,
  scores: readonly number[],
): readonly Contender[] {
  const contenders = [...before.filter((other) => other.trial !== trial), { trial, scores }];
  return contenders.length < MOST ? contenders : thinned(contenders);
}

function thinned(contenders: readonly Contender[]): readonly Contender[] {
  const best = new Set(
    bestByFronts(
      contenders.map(({ scores }) => scores),
      MOST / 2,
    ),
  );
  return contenders.filter((_, index) => best.has(index));
}

/** The best trials, at most `count`. */
export function bestOfSeveral({ contenders }: SeveralState, count: number): readonly number[] {
  const scores = contenders.map((contender) => contender.scores);
  return bestByFronts(scores, count).map((index) => contenders[index]?.trial ?? 0);
}
