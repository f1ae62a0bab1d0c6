/**
 * The state of a search by several metrics: the values in each trial's last report that had all metrics, and the ended
 * trials with such values, of more than `MOST` the best ones.
 *
 * Multiobjective TPE (Y. Ozaki, Y. Tanigaki, S. Watanabe, M. Onishi, GECCO 2020) splits the trials by their fronts. It
 * splits a single front by hypervolumes, which is expensive with more than three metrics; this module takes the most
 * isolated trials instead (`analysis/pareto.ts`).
 */
import { bestByFronts } from "../analysis/pareto.ts";
import { scoresOf, valuesOfAll } from "../objectives.ts";
import type { SearchPlan } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";

/** At this number of contenders the worse half is dropped, since fronts of more trials take too long. */
const MOST = 1_000;

type Contender = { readonly trial: number; readonly scores: readonly number[] };

export type SeveralState = {
  /** The latest values of trial n are at index n - 1; they are empty before a report that had all metrics. */
  readonly latest: readonly (readonly number[])[];
  readonly contenders: readonly Contender[];
};

/** The state at the start of a search; null for a search by a single metric. */
export function newSeveral(plan: SearchPlan): SeveralState | null {
  if (plan.objectives.length === 1) return null;
  let contenders: readonly Contender[] = [];
  for (const [index, { values }] of plan.earlier.entries()) {
    const scores = scoresIn(plan, values);
    if (scores === null) continue;
    contenders = contendersWith(contenders, index + 1 - plan.earlier.length, scores);
  }
  return { latest: [], contenders };
}

function scoresIn(
  { objectives }: SearchPlan,
  values: Readonly<Record<string, number>>,
): readonly number[] | null {
  const all = valuesOfAll(objectives, values);
  return all === null ? null : scoresOf(objectives, all);
}

export function proposeSeveral({ latest }: SeveralState, undo: UndoLog): void {
  undo.push(latest, []);
}

/** Records a report, which may arrive after the end of its trial. */
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

/** Adds a trained trial at its end. */
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

/** Returns the best trials, at most `count`. */
export function bestOfSeveral({ contenders }: SeveralState, count: number): readonly number[] {
  const scores = contenders.map((contender) => contender.scores);
  return bestByFronts(scores, count).map((index) => contenders[index]?.trial ?? 0);
}
