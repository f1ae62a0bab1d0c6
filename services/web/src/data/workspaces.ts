/** The workspaces that forms offer for new and moved objects. */
import type { UnaryName } from "@trainyard/contracts";
import { useCall } from "./calls.ts";
import { useMay } from "./may.ts";
import { offeredWorkspaces } from "./offered-workspaces.ts";

/** Returns the workspaces in which the caller may make a call; undefined until they were read. */
export function useWorkspacesFor(call: UnaryName): readonly string[] | undefined {
  const may = useMay();
  const { data, isPending } = useCall("listWorkspaces", { pageSize: 200 });
  if (isPending) return undefined;
  return offeredWorkspaces(data, (workspace) => may(call, { workspace, owner: "" }));
}
