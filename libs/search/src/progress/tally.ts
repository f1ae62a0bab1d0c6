/**
 * The units that a search has trained and those that remain. Each trial has a place, and the tally is the sum over the
 * places, so that a change of one trial changes the tally without a look at the others.
 *
 *   progress = trained / (trained + remaining + lost)
 *
 * Remaining are the units of the trials that train, and of the trials that the plan expects in each stage and that have
 * not entered it. The share that continues from a stage is the planned one and the observed one together, so that a
 * search whose trials become better or worse with time corrects its estimate. Lost are the units that failed and
 * canceled trials did not train.
 */
import type { Stage, UnitPlan } from "./unit-plan.ts";

/**
 * The planned share of continuing trials counts like that of so many observed trials. With fewer, the first promotions
 * of a search, which are the noisiest, would move the estimate.
 */
const plannedWeight = 24;

/**
 * `done` is a trial that completed or that the search stopped, `lost` one that failed or was canceled, and `void` one
 * that does not count, which another trial replaces.
 */
export type PlaceStatus = "trains" | "suspended" | "done" | "lost" | "void";

export type Place = {
  /** The time of the checkpoint from which the trial counts; 0 if it counts from the start. */
  readonly from: number;
  /** The time that the trial has reached, in the units of the plan. */
  readonly time: number;
  readonly status: PlaceStatus;
};

export type Tally = {
  readonly trained: number;
  /** The units until the end of their stages of the trials that train. */
  readonly left: number;
  readonly lost: number;
  /** The number of trials that train. */
  readonly training: number;
  /** By stage: the trials that have trained in it, and those about which the search has decided at its end. */
  readonly entered: readonly number[];
  readonly passed: readonly number[];
};

export function emptyTally({ stages }: UnitPlan): Tally {
  const none = stages.map(() => 0);
  return { trained: 0, left: 0, lost: 0, training: 0, entered: none, passed: none };
}

/** Returns the tally after the change of one trial's place; null for none. */
export function moved(
  plan: UnitPlan,
  tally: Tally,
  before: Place | null,
  after: Place | null,
): Tally {
  const less = shareOf(plan, before);
  const more = shareOf(plan, after);
  const changed = (now: number, minus = 0, plus = 0): number => now - minus + plus;
  return {
    trained: changed(tally.trained, less.trained, more.trained),
    left: changed(tally.left, less.left, more.left),
    lost: changed(tally.lost, less.lost, more.lost),
    training: changed(tally.training, less.training, more.training),
    entered: tally.entered.map((now, s) => changed(now, less.entered[s], more.entered[s])),
    passed: tally.passed.map((now, s) => changed(now, less.passed[s], more.passed[s])),
  };
}

function shareOf(plan: UnitPlan, place: Place | null): Tally {
  if (place === null || place.status === "void") return emptyTally(plan);
  const { form, stages } = plan;
  const { from, time, status } = place;
  const trains = status === "trains" || (status === "suspended" && form === "whole");
  const stage = stageAt(stages, time, trains);
  const rest = Math.max(0, (stages[stage]?.until ?? 0) - time);
  return {
    trained: Math.max(0, Math.min(time, stages.at(-1)?.until ?? 0) - from),
    left: trains ? rest : 0,
    lost: status === "lost" ? rest : 0,
    training: Number(status === "trains"),
    // A copy continues the training of another trial and takes its place.
    entered: stages.map((_, s) => Number(from === 0 && s <= stage)),
    passed: stages.map((_, s) => Number(from === 0 && (trains ? s < stage : s <= stage))),
  };
}

/** A trial that trains on at the end of a stage is in the next one. */
function stageAt(stages: readonly Stage[], time: number, trains: boolean): number {
  const found = stages.findIndex(({ until }) => (trains ? until > time : until >= time));
  return found === -1 ? stages.length - 1 : found;
}

/** Returns the units that the search will still train. `proposesNoMore`: it was decided that no trial is added. */
export function remainingUnits(plan: UnitPlan, tally: Tally, proposesNoMore = false): number {
  let remaining = Math.max(0, tally.left);
  let before = { until: 0, expected: 0, passed: 0, trials: 0 };
  for (const [s, { until, trials }] of plan.stages.entries()) {
    const { [s]: entered = 0 } = tally.entered;
    let expected = s === 0 && !proposesNoMore ? Math.max(trials, entered) : entered;
    if (s > 0) {
      const planned = trials / before.trials;
      const share = (plannedWeight * planned + entered) / (plannedWeight + before.passed);
      expected += Math.max(0, before.expected - before.passed) * Math.min(1, share);
      if (plan.form === "promotes") expected = Math.max(expected, before.expected * planned);
    }
    remaining += (expected - entered) * (until - before.until);
    before = { until, expected, passed: tally.passed[s] ?? 0, trials };
  }
  return remaining;
}

/** Returns the progress of the search, from 0 to 1. */
export function progressOf(plan: UnitPlan, tally: Tally, proposesNoMore = false): number {
  const all = tally.trained + remainingUnits(plan, tally, proposesNoMore) + tally.lost;
  return all <= 0 ? 0 : Math.min(1, Math.max(0, tally.trained / all));
}

/** Returns the part of its training that a trial has reached, from 0 to 1. */
export function reachedOf({ stages }: UnitPlan, { time }: Place): number {
  const { until = 1 } = stages.at(-1) ?? {};
  return Math.min(1, Math.max(0, time / until));
}
