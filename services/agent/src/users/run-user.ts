/**
 * The Unix user of an experiment's runs: the first id of the range plus the experiment's number, as user and as group.
 * So it is the same on every host with the same range, no two experiments ever share one, and nobody keeps a list. A
 * number beyond the range has none: starting over would give an experiment the files of an earlier one (ADR 30).
 */
import { Fault, isExperimentId } from "@trainyard/kernel";

export type UserRange = { readonly first: number; readonly last: number };

/** The user that owns what a run made. */
export type Owner = { readonly uid: number; readonly gid: number };

/** The user as which a run's processes start, with the groups that it has besides its own. */
export type RunUser = Owner & { readonly groups: readonly number[] };

/** Ids below are the system's own users and groups on every distribution. */
const lowest = 1_000;
/** The highest that is an id: the one above means "unchanged" to chown(2). */
const highest = 4_294_967_294;
/** nobody, which services share, and the id that stands for it in 16 bits. */
const shared = [65_534, 65_535];

/** Null for an empty text; throws a sentence about any other that is no range. */
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

/** How many experiments have a user: numbers begin at 1, and the first id is the probe's of the agent's start. */
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
