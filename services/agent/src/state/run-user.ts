/**
 * The Unix user of an experiment's runs: the first id of the range plus the experiment's number, as user and as group.
 * So the user is the same on every host with the same range, no two experiments share a user, and no list is needed. An
 * experiment beyond the range has no user: starting over would give it the files of an earlier one (ADR 30).
 *
 * Tasks have numbers of their own, so they have a second range: in the first, task t12 would be the user of experiment
 * 12, and own its checkpoints (ADR 99).
 */
import { Fault, isExperimentId, isTaskId } from "@trainyard/kernel";

export type UserRange = { readonly first: number; readonly last: number };

/** The user that owns a run's files. */
export type Owner = { readonly uid: number; readonly gid: number };

/** The user of a run's processes, with its further groups. */
export type RunUser = Owner & { readonly groups: readonly number[] };

/** On every distribution, ids lower than this number belong to the system's own users and groups. */
const lowest = 1_000;
/** The highest id: the number above it means "unchanged" to chown(2). */
const highest = 4_294_967_294;
/** The ids of nobody, which services share, and of the 16-bit overflow user. */
const shared = [65_534, 65_535];

/** Null for an empty text; throws a sentence for an invalid range. */
export function parseUserRange(text: string): UserRange | null {
  if (text === "") return null;
  const match = /^(\d{1,10})-(\d{1,10})$/.exec(text);
  if (match === null) throw new Error("it must be FIRST-LAST, such as 1900000000-1999999999");
  const [first, last] = [Number(match[1]), Number(match[2])];
  if (first < lowest) throw new Error(`ids below ${lowest} belong to the system`);
  if (last > highest) throw new Error(`the highest user id is ${highest}`);
  if (last <= first) throw new Error("the last id must be above the first");
  const taken = shared.find((id) => id >= first && id <= last);
  if (taken !== undefined) throw new Error(`it contains ${taken}, which is "nobody"`);
  return { first, last };
}

/**
 * The number of experiments with a user: they are numbered from 1, and the first id is used by the probe at the agent's
 * start.
 */
export function experimentsOf({ first, last }: UserRange): number {
  return last - first;
}

/** Throws a Fault for an experiment beyond the range. */
export function ownerOf(range: UserRange, experiment: string): Owner {
  const number = isExperimentId(experiment) ? Number(experiment) : Number.NaN;
  const id = range.first + number;
  if (id <= range.last) return { uid: id, gid: id };
  throw new Fault(
    "no_user",
    `experiment ${experiment} has no user: TRAINYARD_AGENT_USER_IDS has ids for experiments 1 to ${experimentsOf(range)}; give all agents a range with the same first id and a higher last one`,
    { retry: "never" },
  );
}

/** Throws a Fault for a task beyond the range, or without a range. */
export function taskOwnerOf(range: UserRange | null, task: string): Owner {
  if (range === null) {
    throw new Fault(
      "no_user",
      `task ${task} has no user: this agent gives experiments users of their own (TRAINYARD_AGENT_USER_IDS) and has no range for tasks; set TRAINYARD_AGENT_TASK_USER_IDS to another range`,
      { retry: "never" },
    );
  }
  const id = range.first + (isTaskId(task) ? Number(task.slice(1)) : Number.NaN);
  if (id <= range.last) return { uid: id, gid: id };
  throw new Fault(
    "no_user",
    `task ${task} has no user: TRAINYARD_AGENT_TASK_USER_IDS has ids for tasks t1 to t${experimentsOf(range)}; give all agents a range with the same first id and a higher last one`,
    { retry: "never" },
  );
}

/** Returns the reason why the ranges of experiments and tasks do not go together, as a sentence; null for none. */
export function rangesProblem(
  experiments: UserRange | null,
  tasks: UserRange | null,
): string | null {
  if (tasks === null) return null;
  if (experiments === null) {
    return "TRAINYARD_AGENT_TASK_USER_IDS is set, and TRAINYARD_AGENT_USER_IDS is not: set both, or neither";
  }
  if (tasks.first > experiments.last || experiments.first > tasks.last) return null;
  const common = Math.max(tasks.first, experiments.first);
  return `TRAINYARD_AGENT_TASK_USER_IDS and TRAINYARD_AGENT_USER_IDS both contain ${common}: a task would own the files of an experiment, so choose ranges without common ids`;
}
