/**
 * Determined's priority scheduler.
 *
 * Tasks with slots and tasks without slots are scheduled independently. Priorities are processed from the best (1) to
 * the worst (99), and each priority in queue order. Tasks that fit are placed in a working copy. Once a task does not
 * fit, all tasks of worse priority are backfill: without preemption no backfill is started, with preemption only
 * preemptible tasks are.
 *
 * With preemption, a task that does not fit takes victims from priority 99 up to its own priority, the last in the
 * queue first, until it fits. Of equal priority, only tasks of jobs strictly behind it are victims. If it never fits,
 * no task is stopped. The walk is greedy: a victim that proves unnecessary is stopped anyway. A preempting task does
 * not start in the same pass, nor does a task of worse priority once a release is planned.
 */
import { findFits } from "./fit.ts";
import type { Decision, DeterminedTask, FitRules, Queue, Release, Start } from "./model.ts";
import { type Kind, type PriorityClass, positionOf, priorityClasses } from "./order.ts";
import { occupy, type Rooms, roomsOf, vacate } from "./rooms.ts";

export type PriorityRules = FitRules & { readonly preemption: boolean };

export function prioritySchedule(queue: Queue, rules: PriorityRules): Decision {
  const decisions = (["slotted", "slotless"] as const).map((kind) =>
    scheduleKind(queue, rules, kind),
  );
  return {
    starts: decisions.flatMap(({ starts }) => starts),
    releases: decisions.flatMap(({ releases }) => releases),
  };
}

function scheduleKind(queue: Queue, rules: PriorityRules, kind: Kind): Decision {
  const rooms = roomsOf(queue.agents);
  const classes = priorityClasses(queue, kind);
  const starts: Start[] = [];
  const releases = new Map<string, Release>();
  let isBackfill = false;
  for (const { priority, waiting } of classes) {
    const { fitting, left } = placeAll(waiting, rooms, rules);
    if (releases.size === 0 && (!isBackfill || rules.preemption)) {
      for (const { task, parts } of fitting) {
        if (!isBackfill || task.preemptible) {
          starts.push({ task: task.id, parts, backfilled: isBackfill });
        }
      }
    }
    if (left.length === 0) continue;
    isBackfill = true;
    if (!rules.preemption) return { starts, releases: [] };
    const candidates = victimsFor(priority, classes);
    for (const release of makeRoom({ left, candidates, rooms, rules, queue, releases })) {
      releases.set(release.task, release);
    }
  }
  return { starts, releases: [...releases.values()] };
}

type Fitting = { readonly task: DeterminedTask; readonly parts: Start["parts"] };

/** Places the tasks that fit in the working copy; returns them and the tasks that are left. */
function placeAll(tasks: readonly DeterminedTask[], rooms: Rooms, rules: FitRules) {
  const fitting: Fitting[] = [];
  const left: DeterminedTask[] = [];
  const tooLarge = new Set<string>();
  for (const task of tasks) {
    // Free room only shrinks in this loop: if a task did not fit, no task of the same shape fits.
    const shape = shapeOf(task);
    const parts = tooLarge.has(shape) ? null : findFits(task, rooms, rules);
    if (parts === null) {
      tooLarge.add(shape);
      left.push(task);
    } else {
      occupy(rooms, parts);
      fitting.push({ task, parts });
    }
  }
  return { fitting, left };
}

function shapeOf({ slots, singleAgent, blockedAgents }: DeterminedTask): string {
  return JSON.stringify([slots, singleAgent, blockedAgents]);
}

type Victim = { readonly task: DeterminedTask; readonly isOfOwnPriority: boolean };

/** The placed tasks in the order in which they are stopped. */
function victimsFor(priority: number, classes: readonly PriorityClass[]): readonly Victim[] {
  return classes
    .filter((other) => other.priority >= priority)
    .toReversed()
    .flatMap((other) =>
      other.placed
        .filter(({ preemptible }) => preemptible)
        .toReversed()
        .map((task) => ({ task, isOfOwnPriority: other.priority === priority })),
    );
}

type RoomMaking = {
  readonly left: readonly DeterminedTask[];
  readonly candidates: readonly Victim[];
  readonly rooms: Rooms;
  readonly rules: FitRules;
  readonly queue: Queue;
  readonly releases: ReadonlyMap<string, Release>;
};

/** Returns the releases for the tasks that did not fit; those that then fit are placed in the working copy. */
function makeRoom(making: RoomMaking): readonly Release[] {
  const { left, candidates, rooms, rules, queue, releases } = making;
  const planned = new Map(releases);
  let hopeless = new Set<string>();
  for (const task of left) {
    // A task has at most the victims of the tasks before it, so an equal task fails too until a task is released.
    const shape = shapeOf(task);
    if (hopeless.has(shape)) continue;
    const position = positionOf(task, queue.positions);
    const victims = candidates.filter(
      (victim) =>
        !planned.has(victim.task.id) &&
        (!victim.isOfOwnPriority || positionOf(victim.task, queue.positions) > position),
    );
    const stopped = stopUntilFits(task, victims, rooms, rules);
    if (stopped === null) {
      hopeless.add(shape);
      continue;
    }
    if (stopped.length > 0) hopeless = new Set();
    for (const victim of stopped) planned.set(victim.id, { task: victim.id, by: task.id });
  }
  return [...planned.values()];
}

/**
 * Returns the tasks to stop until the task fits, none if planned releases suffice; null, without changes, if it never
 * fits.
 */
function stopUntilFits(
  task: DeterminedTask,
  victims: readonly Victim[],
  rooms: Rooms,
  rules: FitRules,
): readonly DeterminedTask[] | null {
  const stopped: DeterminedTask[] = [];
  for (let next = 0; ; next += 1) {
    const parts = findFits(task, rooms, rules);
    if (parts !== null) {
      occupy(rooms, parts);
      return stopped;
    }
    const victim = victims[next]?.task;
    if (victim === undefined) break;
    vacate(rooms, victim.placement ?? []);
    stopped.push(victim);
  }
  for (const victim of stopped) occupy(rooms, victim.placement ?? []);
  return null;
}
