/** Whether pages offer an action: the caller has the permission that the action's call needs. */
import { type Owned, permissionName } from "@trainyard/access";
import { permissionOf } from "@trainyard/client";
import type { UnaryName } from "@trainyard/contracts";
import { useCall } from "./calls.ts";
import { useMe, useRights } from "./me.ts";

export type May = (call: UnaryName, object: Owned) => boolean;

/** Returns whether the caller may make a call on an object of a workspace and an owner. */
export function useMay(): May {
  const rights = useRights();
  return (call, object) => rights.hasFor(permissionName(permissionOf(call)), object);
}

/** Returns whether the caller may make a call in a workspace, for all of its objects. */
export function useMayIn(workspace: string): (call: UnaryName) => boolean {
  const may = useMay();
  return (call) => may(call, { workspace, owner: "" });
}

/** Returns whether the caller may make a call in any place, for objects that are still to be made. */
export function useMayAnywhere(): (call: UnaryName) => boolean {
  const rights = useRights();
  return (call) => rights.anywhere(permissionName(permissionOf(call)));
}

/** Returns whether the caller may make a call on at least one object; the preview of an action says on which. */
export function useMayOnAny(objects: readonly Owned[]): (call: UnaryName) => boolean {
  const may = useMay();
  return (call) => objects.length === 0 || objects.some((object) => may(call, object));
}

/** Returns whether the caller may make a call on an experiment, its trials and checkpoints; true until it was read. */
export function useMayOn(experiment: string): (call: UnaryName) => boolean {
  const may = useMay();
  const hasUsers = useMe().data?.hasUsers === true;
  const enabled = hasUsers && experiment !== "";
  const { data } = useCall("getExperiment", { experiment }, { enabled });
  return (call) => data === undefined || may(call, data);
}

/** Returns whether an object is the caller's own: only its owner opens a task. */
export function useIsOwn(): (owner: string) => boolean {
  const { data } = useMe();
  return (owner) => data?.hasUsers !== true || owner === data.user?.name;
}
