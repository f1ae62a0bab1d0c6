/**
 * What a custom search remembers: which operations were posted, until when each trial is to train, and which trials wait
 * for a place. A trial that is proposed beyond `max_concurrent_trials` waits from the first, one that is resumed beyond it is
 * suspended by the rule `no_place`; both are resumed, the first first, as places become free; one that its client suspended waits for its client.
 */
import type { EventData } from "@trainyard/contracts";
import type { Json } from "@trainyard/experiment-config";
import type { SearchEvent } from "../events.ts";
import { emptyIdMap, type IdMap, withId } from "../persistent/id-map.ts";
import type { RunningSearch } from "../state.ts";
import { emptyVector, itemAt, pushed, type Vector, withItem } from "../persistent/vector.ts";
import { digestOf, type WishOf, wishOf } from "./operations.ts";

/** Of a trial that there is no place for. */
export const NO_PLACE = "no_place";

export type Posted = {
  /** The trial that the operation is about, or that it made; 0 for none. */
  readonly trial: number;
  /** The version of the search at which it was recorded. */
  readonly version: number;
  readonly digest: number;
};

export type Goal = {
  /** Until when the trial trains; null for its end. */
  readonly target: number | null;
  /** At its target it ends, rather than being suspended. */
  readonly stops: boolean;
  /** It has not ended and holds no place: it is suspended, or was when it was stopped. */
  readonly rests: boolean;
  /** It is suspended until a place is free. */
  readonly waits: boolean;
};

export type CustomMemory = {
  readonly posted: IdMap<Posted>;
  /** That of trial n at n - 1; made with the operation, just before the trial. */
  readonly goals: Vector<Goal>;
  /** Trials that have not ended and hold no place. */
  readonly resting: number;
  /** Trials that wait for a place, from `queueHead` on; those that do so no more are passed over. */
  readonly queue: Vector<number>;
  readonly queueHead: number;
};

const initial: CustomMemory = {
  posted: emptyIdMap(),
  goals: emptyVector(),
  resting: 0,
  queue: emptyVector(),
  queueHead: 0,
};

/** Memory is JSON to the state that holds it; only a custom search's own fold makes that of a custom search. */
export function customMemory(memory: Json): CustomMemory {
  return memory as unknown as CustomMemory;
}

function asJson(memory: CustomMemory): Json {
  return memory as unknown as Json;
}

export function initialCustomMemory(): Json {
  return asJson(initial);
}

export function evolveCustomMemory(json: Json, event: SearchEvent, search: RunningSearch): Json {
  const memory = customMemory(json);
  switch (event.type) {
    case "OperationsPosted":
      return asJson(posted(memory, event.data, search));
    case "TrialProposed":
      return asJson(proposed(memory, event.data));
    case "TrialSuspended":
      return asJson(resting(memory, event.data.trial, event.data.rule === NO_PLACE));
    case "TrialStopDecided":
      return asJson(waitsNoMore(memory, event.data.trial));
    case "TrialResumed":
    case "TrialOutcomeRecorded":
      return asJson(rising(memory, event.data.trial));
    default:
      return json;
  }
}

function posted(
  memory: CustomMemory,
  { operations }: EventData<"OperationsPosted">,
  search: RunningSearch,
): CustomMemory {
  let { posted: ids, goals } = memory;
  const version = search.version + 1;
  for (const operation of operations) {
    const wish = wishOf(operation);
    let trial = "trial" in wish.value ? wish.value.trial : 0;
    if (wish.case === "propose") {
      goals = pushed(goals, goalOf(wish.value));
      trial = goals.size;
    } else if (wish.case === "resume") {
      const { rests = false, waits = false } = itemAt(goals, trial - 1) ?? {};
      goals = withItem(goals, trial - 1, { ...goalOf(wish.value), rests, waits });
    }
    ids = withId(ids, operation.id, { trial, version, digest: digestOf(operation) });
  }
  return { ...memory, posted: ids, goals };
}

function goalOf({ target, stopAtTarget }: WishOf<"propose"> | WishOf<"resume">): Goal {
  return { target: target ?? null, stops: stopAtTarget, rests: false, waits: false };
}

/** A trial that is made without a place for it waits for one. */
function proposed(
  memory: CustomMemory,
  { number, waits = false }: EventData<"TrialProposed">,
): CustomMemory {
  return waits ? resting(memory, number, true) : memory;
}

/** It holds no place from now on; `waits`: until one is free. */
function resting(memory: CustomMemory, trial: number, waits: boolean): CustomMemory {
  const before = itemAt(memory.goals, trial - 1)?.rests ?? false;
  const after = withGoal(memory, trial, { rests: true, waits });
  const queue = waits ? pushed(after.queue, trial) : after.queue;
  return { ...after, queue, resting: memory.resting + (before ? 0 : 1) };
}

/** Stopped, it ends without a place if it had none. */
function waitsNoMore(memory: CustomMemory, trial: number): CustomMemory {
  const rests = itemAt(memory.goals, trial - 1)?.rests ?? false;
  return withGoal(memory, trial, { rests, waits: false });
}

/** It holds a place, or has ended. */
function rising(memory: CustomMemory, trial: number): CustomMemory {
  const before = itemAt(memory.goals, trial - 1)?.rests ?? false;
  const after = withGoal(memory, trial, { rests: false, waits: false });
  return { ...after, resting: memory.resting - (before ? 1 : 0) };
}

/** The head moves past those that wait no more, so that finding the next one is cheap. */
function withGoal(
  memory: CustomMemory,
  trial: number,
  change: Pick<Goal, "rests" | "waits">,
): CustomMemory {
  const goal = itemAt(memory.goals, trial - 1);
  if (goal === undefined) return memory;
  if (goal.rests === change.rests && goal.waits === change.waits) return memory;
  const goals = withItem(memory.goals, trial - 1, { ...goal, ...change });
  let { queueHead } = memory;
  while (queueHead < memory.queue.size && !waitsAt(goals, memory.queue, queueHead)) queueHead += 1;
  if (queueHead < memory.queue.size) return { ...memory, goals, queueHead };
  return { ...memory, goals, queue: emptyVector(), queueHead: 0 };
}

function waitsAt(goals: Vector<Goal>, queue: Vector<number>, index: number): boolean {
  return itemAt(goals, (itemAt(queue, index) ?? 0) - 1)?.waits === true;
}

/** The first trials that wait for a place, at most so many. A trial may stand in the queue twice. */
export function firstWaiting({ goals, queue, queueHead }: CustomMemory, most: number): number[] {
  const found = new Set<number>();
  for (let index = queueHead; index < queue.size && found.size < most; index += 1) {
    const trial = itemAt(queue, index);
    if (trial !== undefined && itemAt(goals, trial - 1)?.waits === true) found.add(trial);
  }
  return [...found];
}
