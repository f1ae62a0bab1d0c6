/**
 * A stream for each reserved name of a workspace or project. The name is reserved in the commit that creates its
 * holder, so of two concurrent creations one is refused. Holders are also found by name here.
 */
import type { EventOf } from "@trainyard/contracts";
import { type Decider, reject } from "@trainyard/kernel";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";

export type NameEvent = EventOf<"NameReserved">;
export type Reserved = NameEvent["data"];
/** The holder of the name; null if the name is free. */
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

/** Returns the key of a name, which ignores case. `workspace` is the id of a project's workspace. */
export function nameKey(kind: "workspace" | "project", name: string, workspace = ""): string {
  return JSON.stringify([kind, workspace, name.normalize("NFC").toLowerCase()]);
}

export const isDefaultName = (name: string): boolean =>
  name === "" || name.toLowerCase() === defaultSpace;
