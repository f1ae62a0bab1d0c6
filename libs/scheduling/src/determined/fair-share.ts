/**
 * Determined's fair share among jobs.
 *
 * Tasks without slots start if they fit. For the other tasks, each job demands the slots of all its tasks that the pool
 * could hold, at most its `maxSlots`. Capacity is offered by progressive filling. In each round, every job with unmet
 * demand gets its weight's share of the capacity at the round's start, at least one slot, the smallest demand first.
 * The slots of running tasks that cannot be preempted are offered beforehand.
 *
 * All jobs may end with offers that are too small for any of their tasks. Therefore, if the capacity is used up and the
 * newest job runs no task and cannot start its smallest task, its offer goes to the others for this pass.
 *
 * A job that uses more than its offer then stops its oldest preemptible tasks. A job that uses less starts the tasks
 * that fit in the rest of its offer. No job does both in one pass.
 */
import { findFits } from "./fit.ts";
import type { Decision, DeterminedTask, FitRules, Queue, Release, Start } from "./model.ts";
import { compareRequests } from "./order.ts";
import { occupy, type Rooms, roomsOf } from "./rooms.ts";

type Group = {
  readonly weight: number;
  /** The tasks of the job in order of submission, at least one. */
  readonly tasks: readonly DeterminedTask[];
  readonly waiting: readonly DeterminedTask[];
  readonly placed: readonly DeterminedTask[];
  readonly demand: number;
  readonly active: number;
  readonly presubscribed: number;
  offered: number;
  isDisabled: boolean;
};

export function fairShareSchedule(queue: Queue, rules: FitRules): Decision {
  const rooms = roomsOf(queue.agents);
  const starts = startSlotless(queue, rooms, rules);
  const groups = groupsOf(queue);
  offerSlots(groups, capacityFor(queue, []));
  const releases = groups.flatMap((group) => releasesOf(group, groups));
  for (const group of groups) starts.push(...startsOf(group, rooms, rules));
  return { starts, releases };
}

/** The slots of the agents that a task is not blocked from. An agent that takes no work counts with its used slots. */
function capacityFor({ agents }: Queue, blockedAgents: readonly string[]): number {
  return agents
    .filter(({ id }) => !blockedAgents.includes(id))
    .reduce((sum, { takesWork, slots, usedSlots }) => sum + (takesWork ? slots : usedSlots), 0);
}

const slotsOf = (tasks: readonly DeterminedTask[]): number =>
  tasks.reduce((sum, { slots }) => sum + slots, 0);

/** Groups the tasks by job: the smallest demand first, then the oldest job. */
function groupsOf(queue: Queue): Group[] {
  const capacities = new Map<string, number>();
  const placeable = ({ slots, blockedAgents }: DeterminedTask): boolean => {
    const key = blockedAgents.join("\n");
    const capacity = capacities.get(key) ?? capacityFor(queue, blockedAgents);
    capacities.set(key, capacity);
    return slots > 0 && slots <= capacity;
  };
  const tasks = queue.tasks.filter(placeable).sort(compareRequests);
  const groups = [...Map.groupBy(tasks, ({ job }) => job)].map(([job, members]): Group => {
    const { weight, maxSlots } = queue.jobs.get(job) ?? { weight: 0, maxSlots: null };
    const placed = members.filter(({ placement }) => placement !== null);
    return {
      weight,
      tasks: members,
      waiting: members.filter(({ placement }) => placement === null),
      placed,
      demand: Math.min(slotsOf(members), maxSlots ?? Number.POSITIVE_INFINITY),
      active: slotsOf(placed),
      presubscribed: slotsOf(placed.filter(({ preemptible }) => !preemptible)),
      offered: 0,
      isDisabled: false,
    };
  });
  return groups.sort((a, b) => a.demand - b.demand || compareAge(a, b));
}

function compareAge(a: Group, b: Group): number {
  return compareRequests(a.tasks[0] as DeterminedTask, b.tasks[0] as DeterminedTask);
}

function offerSlots(groups: readonly Group[], slots: number): void {
  const newestFirst = [...groups].sort((a, b) => compareAge(b, a));
  const preoffers = new Map(groups.map((group) => [group, group.presubscribed]));
  let capacity = slots;
  for (const group of groups) {
    group.offered = group.presubscribed;
    capacity -= group.presubscribed;
  }
  while (capacity > 0) {
    const open = groups.filter(
      ({ isDisabled, offered, demand }) => !isDisabled && offered < demand,
    );
    if (open.length === 0) return;
    const weights = open.reduce((sum, { weight }) => sum + weight, 0);
    const atStart = capacity;
    let isOffered = false;
    for (const group of open) {
      const share = Math.max(1, weights > 0 ? Math.floor((atStart * group.weight) / weights) : 1);
      const wanted = Math.min(share, capacity, group.demand - group.offered);
      const preoffer = preoffers.get(group) ?? 0;
      isOffered ||= wanted > 0;
      // Slots offered beforehand absorb shares up to their number, but do not reduce a larger share, as in Determined.
      const added = wanted > preoffer ? wanted : 0;
      preoffers.set(group, wanted > preoffer ? 0 : preoffer - wanted);
      group.offered += added;
      capacity -= added;
    }
    if (!isOffered) return;
    if (capacity === 0) capacity = takeBackFromNewest(newestFirst);
  }
}

/** Takes back the offer that the newest job cannot use and excludes the job from this pass; returns its slots. */
function takeBackFromNewest(newestFirst: readonly Group[]): number {
  const newest = newestFirst.find(({ isDisabled, offered }) => !isDisabled && offered > 0);
  if (newest === undefined || newest.active > 0) return 0;
  const smallest = Math.min(...newest.waiting.map((task) => task.slots));
  if (smallest <= newest.offered) return 0;
  const { offered } = newest;
  newest.offered = 0;
  newest.isDisabled = true;
  return offered;
}

function startSlotless({ tasks }: Queue, rooms: Rooms, rules: FitRules): Start[] {
  const waiting = tasks.filter(({ slots, placement }) => slots === 0 && placement === null);
  return startAll(waiting.sort(compareRequests), Number.POSITIVE_INFINITY, rooms, rules);
}

function startsOf({ waiting, active, offered }: Group, rooms: Rooms, rules: FitRules): Start[] {
  return active < offered ? startAll(waiting, offered - active, rooms, rules) : [];
}

/** Starts, in order, the tasks that fit on the agents and in this number of slots. */
function startAll(
  tasks: readonly DeterminedTask[],
  slotsMax: number,
  rooms: Rooms,
  rules: FitRules,
): Start[] {
  const starts: Start[] = [];
  let left = slotsMax;
  for (const task of tasks) {
    if (task.slots > left) continue;
    const parts = findFits(task, rooms, rules);
    if (parts === null) continue;
    occupy(rooms, parts);
    left -= task.slots;
    starts.push({ task: task.id, parts, backfilled: false });
  }
  return starts;
}

function releasesOf(group: Group, groups: readonly Group[]): readonly Release[] {
  let excess = group.active - group.offered;
  if (excess <= 0) return [];
  const gaining = groups.find(
    (other) => other !== group && other.active < other.offered && other.waiting.length > 0,
  );
  const by = gaining?.waiting[0]?.id ?? "";
  const releases: Release[] = [];
  for (const task of group.placed) {
    if (excess <= 0) break;
    if (!task.preemptible) continue;
    releases.push({ task: task.id, by });
    excess -= task.slots;
  }
  return releases;
}
