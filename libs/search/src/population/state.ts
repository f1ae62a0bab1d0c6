/**
 * The memory of population-based training, and how the search's events change it.
 *
 * The members are the trials that should run. Each has its last score, its last checkpoint that others may start from,
 * and the time of its last comparison. A place is vacant until a trial is proposed for it: at first all places, later
 * those of failed members and of members that copy another (the member's trial ends, and a new trial continues from the
 * donor's checkpoint).
 *
 * Scores are ranked smaller first, whatever the direction; a value that is not finite counts as the largest number.
 */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject } from "@trainyard/experiment-config";
import type { SearchEvent } from "../events.ts";
import type { SearchPlan } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";

/** The rank of a value that is not finite, worse than any other value. */
export const WORST = Number.MAX_VALUE;

/** The rules of stops: after an exploit the place is vacant, after the full length it stays filled. */
export const EXPLOITED = "pbt_exploit";
export const DONE = "max_time";

export type Saved = { readonly checkpoint: string; readonly step: number; readonly time: number };

export type Score = {
  /** The ranked value of the report. */
  readonly value: number;
  readonly time: number;
  /** The order of reports: of two equal values the earlier one is better. */
  readonly order: number;
};

export type Member = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  /** The checkpoint from which the member started; empty for none. */
  readonly from: string;
  readonly startedAt: number;
  /** The time of the member's last comparison; at first the start of its training. */
  readonly comparedAt: number;
  readonly comparisons: number;
  /** Whether the member is suspended until its next turn. */
  readonly waiting: boolean;
  /** The member's last score; null before its first report. */
  readonly score: Score | null;
  readonly saved: Saved | null;
  /** The steps and times of its latest reports, which date its checkpoints if time is not the step. */
  readonly reports: readonly (readonly [step: number, time: number])[];
};

export type Population = {
  /** The members in the order of their trials. */
  readonly members: readonly Member[];
  readonly vacant: number;
  /** The number of members that started with hyperparameters of their own, not with a copy. */
  readonly drawn: number;
  /** Whether a member has trained to the full length. */
  readonly finished: boolean;
  readonly scores: number;
};

/** The most reports kept to date checkpoints: a checkpoint follows its step's report at once. */
const REPORTS_KEPT = 16;

export function emptyPopulation(size: number): Population {
  return { members: [], vacant: size, drawn: 0, finished: false, scores: 0 };
}

export function memberOf({ members }: Population, trial: number): Member | undefined {
  return members.find((member) => member.trial === trial);
}

export function applyToPopulation(
  population: Population,
  event: SearchEvent,
  plan: SearchPlan,
  undo: UndoLog,
): void {
  const change = (trial: number, by: (member: Member) => Member): void =>
    changeMember(population, trial, by, undo);
  switch (event.type) {
    case "TrialProposed":
      join(population, event.data, undo);
      break;
    case "ObservationRecorded":
      score(population, event.data, plan, undo);
      break;
    case "CheckpointObserved":
      change(event.data.trial, (member) => saved(member, event.data, plan));
      break;
    case "TrialSuspended":
      change(event.data.trial, (member) => ({ ...judged(member), waiting: true }));
      break;
    case "TrialResumed":
      change(event.data.trial, (member) =>
        member.waiting ? { ...member, waiting: false } : judged(member),
      );
      break;
    case "TrialStopDecided": {
      const { trial, rule, fails } = event.data;
      leave(population, trial, rule === EXPLOITED || fails === true, undo);
      break;
    }
    case "TrialOutcomeRecorded":
      end(population, event.data, undo);
      break;
    default:
  }
}

function changeMember(
  { members }: Population,
  trial: number,
  by: (member: Member) => Member,
  undo: UndoLog,
): void {
  const at = members.findIndex((member) => member.trial === trial);
  const member = members[at];
  if (member !== undefined) undo.set(members, at, by(member));
}

/** Returns the member after a comparison, which continues now or at its next turn. */
function judged(member: Member): Member {
  return {
    ...member,
    comparedAt: member.score?.time ?? member.comparedAt,
    comparisons: member.comparisons + 1,
  };
}

function join(population: Population, data: EventData<"TrialProposed">, undo: UndoLog): void {
  const { number, hyperparameters = {}, startFromCheckpoint = "", startFromTime = 0 } = data;
  undo.push(population.members, {
    trial: number,
    hyperparameters,
    from: startFromCheckpoint,
    startedAt: startFromTime,
    comparedAt: startFromTime,
    comparisons: 0,
    waiting: false,
    score: null,
    saved: null,
    reports: [],
  });
  undo.set(population, "vacant", population.vacant - 1);
  if (startFromCheckpoint === "") undo.set(population, "drawn", population.drawn + 1);
}

function score(
  population: Population,
  data: EventData<"ObservationRecorded">,
  plan: SearchPlan,
  undo: UndoLog,
): void {
  const { trial, time, values, repeat, step = time } = data;
  const reported = values[plan.metric];
  if (repeat || reported === undefined || memberOf(population, trial) === undefined) return;
  const value = rankedValue(reported, plan.smallerIsBetter);
  const order = population.scores;
  undo.set(population, "scores", order + 1);
  changeMember(
    population,
    trial,
    (member) =>
      member.score !== null && time <= member.score.time
        ? member
        : dated({ ...member, score: { value, time, order } }, step, time, plan),
    undo,
  );
}

/** Ranks infinities as not finite, too: a training that has reached them is no better than any other. */
function rankedValue(value: number, smallerIsBetter: boolean): number {
  if (!Number.isFinite(value)) return WORST;
  return smallerIsBetter ? value : 0 - value;
}

/** Dates a checkpoint that was complete before the report of its step arrived. */
function dated(member: Member, step: number, time: number, plan: SearchPlan): Member {
  if (plan.timeMetric === "") return member;
  const reports = [...member.reports, [step, time] as const].slice(-REPORTS_KEPT);
  const { saved: before } = member;
  if (before === null || step > before.step) return { ...member, reports };
  return { ...member, reports, saved: { ...before, time: Math.max(before.time, time) } };
}

function saved(member: Member, data: EventData<"CheckpointObserved">, plan: SearchPlan): Member {
  const { checkpoint, step } = data;
  if (plan.timeMetric === "") return { ...member, saved: { checkpoint, step, time: step } };
  const before = member.reports.filter(([reported]) => reported <= step);
  const time = before.reduce((latest, [, at]) => Math.max(latest, at), member.startedAt);
  return { ...member, saved: { checkpoint, step, time } };
}

function leave(population: Population, trial: number, vacates: boolean, undo: UndoLog): void {
  const at = population.members.findIndex((member) => member.trial === trial);
  if (at === -1) return;
  undo.splice(population.members, at, 1);
  if (vacates) undo.set(population, "vacant", population.vacant + 1);
  else undo.set(population, "finished", true);
}

/** Frees the place of a failed member. A copy that failed before its first report makes its checkpoint suspect. */
function end(
  population: Population,
  { trial, outcome }: EventData<"TrialOutcomeRecorded">,
  undo: UndoLog,
): void {
  const member = memberOf(population, trial);
  if (member === undefined) return;
  const failed = outcome === TrialOutcome.FAILED;
  leave(population, trial, failed || outcome === TrialOutcome.INVALID_HYPERPARAMETERS, undo);
  if (!failed || member.from === "" || member.score !== null) return;
  for (const [at, other] of population.members.entries()) {
    if (other.saved?.checkpoint !== member.from) continue;
    undo.set(population.members, at, { ...other, saved: null });
  }
}
