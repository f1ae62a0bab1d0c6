import type { UnaryName } from "@trainyard/contracts";
import { useCall } from "../../data/calls.ts";
import { useMay } from "../../data/may.ts";

/** Returns whether the caller may make a call on the model of this page, which belongs to its creator. */
export function useMayChange(model: string): (call: UnaryName) => boolean {
  const may = useMay();
  const { data } = useCall("getModel", { model });
  return (call) =>
    data === undefined || may(call, { workspace: data.workspace, owner: data.createdBy });
}
