/**
 * The state of a custom search: the posted operations, the target of each trial, and the trials that wait for a place.
 *
 * A trial that is proposed beyond `max_concurrent_trials` waits from its start. A trial that is resumed beyond it is
 * suspended by the rule `no_place`. As places become free, such trials are resumed in order. A trial that its client
 * suspended waits for the client.
 */
import type { EventData } from "@trainyard/contracts";
import type { SearchEvent } from "../events.ts";
import type { RunningSearch, SearchState } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";
import { digestOf, type WishOf, wishOf } from "./operations.ts";

/** The rule that suspends a trial when no place is free. */
export const NO_PLACE = "no_place";

export type Posted = {
  /** The trial that the operation names or proposed; 0 for none. */
  readonly trial: number;
  /** The version of the search at which the operation was recorded. */
  readonly version: number;
  readonly digest: number;
};

export type Goal = {
  /** The time until which the trial trains; null for its end. */
  readonly target: number | null;
  /** Whether the trial ends at its target; otherwise it is suspended. */
  readonly stops: boolean;
  /** Whether the open trial has no place: it is suspended, or was suspended when it was stopped. */
  readonly rests: boolean;
  /** Whether the trial is suspended until a place is free. */
  readonly waits: boolean;
};

export type CustomState = {
  /** The posted operations by id, prefixed with `#` so that no id is the name of a built-in property. */
  readonly posted: Readonly<Record<string, Posted>>;
  /**
   * The goals by trial: trial n at index n - 1. A proposal's goal is set by its operation, before the trial's event.
   */
  readonly goals: readonly Goal[];
  /** The number of open trials without a place. */
  readonly resting: number;
  /** The trials that wait for a place, from index `queueHead` on; entries that wait no more are skipped. */
  readonly queue: readonly number[];
  readonly queueHead: number;
};

export type CustomSearch = RunningSearch<CustomState>;

export function newCustomState(): CustomState {
  return { posted: {}, goals: [], resting: 0, queue: [], queueHead: 0 };
}

/** Whether the search is custom, so that its memory is a `CustomState`. */
export function isCustom(search: SearchState): search is CustomSearch {
  return search.plan?.algorithm === "custom";
}

export function postedUnder({ posted }: CustomState, id: string): Posted | undefined {
  return posted[`#${id}`];
}

export function applyToCustom(search: CustomSearch, event: SearchEvent, undo: UndoLog): void {
  const { memory } = search;
  switch (event.type) {
    case "OperationsPosted":
      post(memory, event.data, search.version + 1, undo);
      break;
    case "TrialProposed":
      // A trial that is proposed without a free place waits for one.
      if (event.data.waits === true) rest(memory, event.data.number, true, undo);
      break;
    case "TrialSuspended":
      rest(memory, event.data.trial, event.data.rule === NO_PLACE, undo);
      break;
    case "TrialStopDecided":
      waitNoMore(memory, event.data.trial, undo);
      break;
    case "TrialResumed":
    case "TrialOutcomeRecorded":
      rise(memory, event.data.trial, undo);
      break;
    default:
  }
}

function post(
  { posted, goals }: CustomState,
  { operations }: EventData<"OperationsPosted">,
  version: number,
  undo: UndoLog,
): void {
  for (const operation of operations) {
    const wish = wishOf(operation);
    let trial = "trial" in wish.value ? wish.value.trial : 0;
    if (wish.case === "propose") {
      undo.push(goals, goalOf(wish.value));
      trial = goals.length;
    } else if (wish.case === "resume") {
      const { rests = false, waits = false } = goals[trial - 1] ?? {};
      undo.set(goals, trial - 1, { ...goalOf(wish.value), rests, waits });
    }
    undo.set(posted, `#${operation.id}`, { trial, version, digest: digestOf(operation) });
  }
}

function goalOf({ target, stopAtTarget }: WishOf<"propose"> | WishOf<"resume">): Goal {
  return { target: target ?? null, stops: stopAtTarget, rests: false, waits: false };
}

/** Takes the trial's place away; with `waits`, the trial waits for another. */
function rest(memory: CustomState, trial: number, waits: boolean, undo: UndoLog): void {
  const before = memory.goals[trial - 1]?.rests ?? false;
  setGoal(memory, trial, { rests: true, waits }, undo);
  if (waits) undo.push(memory.queue, trial);
  if (!before) undo.set(memory, "resting", memory.resting + 1);
}

/** Removes a stopped trial from the waiting ones; it ends without a place if it had none. */
function waitNoMore(memory: CustomState, trial: number, undo: UndoLog): void {
  const rests = memory.goals[trial - 1]?.rests ?? false;
  setGoal(memory, trial, { rests, waits: false }, undo);
}

/** Marks that the trial holds a place, or has ended. */
function rise(memory: CustomState, trial: number, undo: UndoLog): void {
  const before = memory.goals[trial - 1]?.rests ?? false;
  setGoal(memory, trial, { rests: false, waits: false }, undo);
  if (before) undo.set(memory, "resting", memory.resting - 1);
}

/** Sets the goal and moves the queue's head past trials that wait no more, which keeps lookups cheap. */
function setGoal(
  memory: CustomState,
  trial: number,
  change: Pick<Goal, "rests" | "waits">,
  undo: UndoLog,
): void {
  const { goals } = memory;
  const goal = goals[trial - 1];
  if (goal === undefined) return;
  if (goal.rests === change.rests && goal.waits === change.waits) return;
  undo.set(goals, trial - 1, { ...goal, ...change });
  const { queue } = memory;
  let { queueHead } = memory;
  while (queueHead < queue.length && !waitsAt(memory, queueHead)) queueHead += 1;
  if (queueHead === queue.length) undo.set(memory, "queue", []);
  undo.set(memory, "queueHead", queueHead === queue.length ? 0 : queueHead);
}

function waitsAt({ goals, queue }: CustomState, index: number): boolean {
  return goals[(queue[index] ?? 0) - 1]?.waits === true;
}

/** Returns the first trials that wait for a place, at most `most`. A trial may be in the queue twice. */
export function firstWaiting(memory: CustomState, most: number): number[] {
  const { queue, queueHead } = memory;
  const found = new Set<number>();
  for (let index = queueHead; index < queue.length && found.size < most; index += 1) {
    if (waitsAt(memory, index)) found.add(queue[index] as number);
  }
  return [...found];
}
