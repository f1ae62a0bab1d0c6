import type { Backend } from "../backend.ts";
import { findWorkspace } from "./spaces.ts";

/**
 * Returns the filter with the workspace's name as events have it: names ignore case. Throws a Problem if there is no
 * such workspace, since the filter would select nothing.
 */
export async function withNamedWorkspace<Filter extends { readonly workspace: string }>(
  backend: Backend,
  filter: Filter,
): Promise<Filter> {
  if (filter.workspace === "") return filter;
  return { ...filter, workspace: (await findWorkspace(backend, filter.workspace)).name };
}
