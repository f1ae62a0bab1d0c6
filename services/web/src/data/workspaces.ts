/** The workspaces that forms offer for new and moved objects. */
import type { UnaryName } from "@trainyard/contracts";
import { useCall } from "./calls.ts";
import { useMay } from "./may.ts";

/** Returns the workspaces in which the caller may make a call; undefined until they were read. */
export function useWorkspacesFor(call: UnaryName): readonly string[] | undefined {
  const may = useMay();
  const { data } = useCall("listWorkspaces", { pageSize: 200 });
  const names = data?.items.map(({ name }) => name);
  return names?.filter((workspace) => may(call, { workspace, owner: "" }));
}
