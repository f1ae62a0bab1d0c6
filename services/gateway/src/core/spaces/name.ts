/**
 * A name that is taken, a stream of its own: it is reserved in the commit that creates what has it, so that of two at
 * the same time one is refused. What is looked up by its name is found here.
 */
import type { EventOf } from "@trainyard/contracts";
import { type Decider, reject } from "@trainyard/kernel";

export type NameEvent = EventOf<"NameReserved">;
export type Reserved = NameEvent["data"];
/** Null for a name that is free. */
export type NameState = Reserved | null;

export const nameDecider: Decider<NameState, Reserved, NameEvent> = {
  initial: null,
  decide(state, wanted) {
    if (state === null) return [{ type: "NameReserved", data: wanted }];
    if (state.holder === wanted.holder) return [];
    const what = `there is a ${wanted.kind} ${state.name} already`;
    return reject(`${wanted.kind}_exists`, what);
  },
  evolve: (_state, event) => event.data,
};

/** The name of the default workspace, and of the default project of each workspace. */
export const defaultSpace = "default";

/** Names that differ in upper and lower case only are the same. `workspace` is the id of a project's workspace. */
export function nameKey(kind: "workspace" | "project", name: string, workspace = ""): string {
  return JSON.stringify([kind, workspace, name.normalize("NFC").toLowerCase()]);
}

export const isDefaultName = (name: string): boolean =>
  name === "" || name.toLowerCase() === defaultSpace;
