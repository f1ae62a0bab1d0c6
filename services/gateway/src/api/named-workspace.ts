import type { Rights } from "@trainyard/access";
import type { Backend } from "../backend.ts";
import { missing } from "./rights/objects.ts";
import { findWorkspace } from "../spaces/spaces.ts";

/**
 * Returns the filter with the workspace's name as events have it: names ignore case. Throws a Problem if the caller
 * sees no such workspace, since the filter would select nothing.
 */
export async function withNamedWorkspace<Filter extends { readonly workspace: string }>(
  backend: Backend,
  filter: Filter,
  rights: Rights,
): Promise<Filter> {
  if (filter.workspace === "") return filter;
  const { name } = await findWorkspace(backend, filter.workspace);
  if (!rights.has("workspace_view", name)) throw missing("workspace", filter.workspace);
  return { ...filter, workspace: name };
}
