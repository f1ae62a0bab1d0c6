/**
 * The holder of a name (agent.proto, "The holder of a name"): its record, and the decision whether another agent that
 * reports under the name gets it.
 */
import type { Plain } from "@trainyard/contracts";
import type { Report } from "@trainyard/contracts/agent";

/** The start that holds an agent's name. */
export type Holder = {
  readonly folder: string;
  readonly place: string;
  readonly startedMs: number;
};

/** The holder's fields alone, as an event contains them. */
export function holderOf({ folder, place, startedMs }: Holder): Holder {
  return { folder, place, startedMs };
}

export function isSameHolder(a: Holder, b: Holder): boolean {
  return a.folder === b.folder && a.place === b.place;
}

/**
 * holder: the reporting agent has the name, perhaps from an earlier start. successor: it gets the name, and acts once
 * that is recorded. other_folder, older_copy: it is refused.
 */
export type Standing = "holder" | "successor" | "other_folder" | "older_copy";

/** `held` is null if no agent has the name: none has joined, or the holder was lost or removed. */
export function standingOf(held: Holder | null, report: Plain<Report>): Standing {
  if (held === null) return "successor";
  if (isSameHolder(held, report)) return "holder";
  if (held.folder !== report.folder) return "other_folder";
  return report.startedMs > held.startedMs ? "successor" : "older_copy";
}

/** The code of the refusal, and its text for people. */
export function refusalOf(agent: string, standing: Standing, holderAddress: string): string {
  if (standing === "older_copy") {
    return `the name ${agent} is held by a later start from a copy of this state folder, at ${holderAddress}: give one of the two a name and an empty folder of its own`;
  }
  return `the name ${agent} is held by another agent, at ${holderAddress}: give this one a name of its own (TRAINYARD_AGENT_NAME), or stop the other and wait until it is lost`;
}
