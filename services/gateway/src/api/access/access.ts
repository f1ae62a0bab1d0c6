import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

export function accessHandlers(_backend: Backend) {
  const later = async (): Promise<never> => {
    throw new Problem(501, "internal", "not yet");
  };
  return {
    listGroups: later,
    createGroup: later,
    renameGroup: later,
    changeGroupMembers: later,
    deleteGroup: later,
    listRoles: later,
    defineRole: later,
    deleteRole: later,
    listGrants: later,
    giveRole: later,
    takeRole: later,
  } satisfies Partial<UnaryHandlers>;
}
