/**
 * How workspaces and projects are found by name. Reads use the cached folds, which may be behind the log.
 */
import { createHash } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { Place } from "@trainyard/contracts/commands";
import { foldOf, type StreamFold } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import { defaultSpace } from "../read-model/core/views/project-space.ts";
import { names, projects, workspaces } from "../streams.ts";
import { isDefaultName, nameKey } from "./core/name.ts";
import type { SpaceState } from "./core/space.ts";

/** A workspace or a project that exists. */
export type Space = { readonly id: string; readonly name: string };

export const defaults: Space = { id: defaultSpace, name: defaultSpace };

/** Returns the id of the stream that reserves a name. */
export function nameId(kind: "workspace" | "project", name: string, workspace = ""): string {
  return createHash("sha256")
    .update(nameKey(kind, name, workspace))
    .digest("hex");
}

export async function findWorkspace(backend: Backend, name: string): Promise<Space> {
  if (isDefaultName(name)) return defaults;
  const found = await holderOf(backend, nameId("workspace", name));
  if (found !== null) return found;
  throw noSuchWorkspace(name);
}

/** Returns the Problem for a workspace that does not exist, or that the caller may not see. */
export function noSuchWorkspace(name: string): Problem {
  const detail = `there is no workspace ${shown(name)} that you may see: name one of yard workspace list, or create it with yard workspace create`;
  return new Problem(404, "workspace_not_found", detail);
}

export async function findProject(
  backend: Backend,
  workspace: Space,
  name: string,
): Promise<Space> {
  if (isDefaultName(name)) return defaults;
  const found = await holderOf(backend, nameId("project", name, workspace.id));
  if (found !== null) return found;
  const detail = `there is no project ${shown(name)} in the workspace ${shown(workspace.name)}: create it with yard project create`;
  throw new Problem(404, "project_not_found", detail);
}

/** Returns the place for something new. Throws a Problem if the workspace or project does not exist or is archived. */
export async function findPlace(
  backend: Backend,
  workspaceName: string,
  projectName: string,
): Promise<Plain<Place>> {
  const workspace = await findWorkspace(backend, workspaceName);
  const project = await findProject(backend, workspace, projectName);
  await refuseArchived(backend, "workspace", foldOf(workspaces), workspace);
  await refuseArchived(backend, "project", foldOf(projects), project);
  return {
    workspace: workspace.name,
    project: project.name,
    workspaceId: workspace.id,
    projectId: project.id,
  };
}

/** Returns a workspace for something new. Throws a Problem if it does not exist or is archived. */
export async function findOpenWorkspace(backend: Backend, name: string): Promise<Space> {
  const workspace = await findWorkspace(backend, name);
  await refuseArchived(backend, "workspace", foldOf(workspaces), workspace);
  return workspace;
}

/** Throws a Problem if the space is archived. The service that decides checks this again, with a guard. */
async function refuseArchived(
  { parts }: Backend,
  kind: "workspace" | "project",
  fold: StreamFold<SpaceState>,
  { id, name }: Space,
): Promise<void> {
  if (id === defaultSpace) return;
  const { state } = await parts.executor.cache.load(fold, id);
  if (!state.archived) return;
  const detail = `the ${kind} ${shown(name)} is archived: unarchive it first`;
  throw new Problem(409, `${kind}_archived`, detail);
}

async function holderOf({ parts }: Backend, id: string): Promise<Space | null> {
  const { state } = await parts.executor.cache.load(foldOf(names), id);
  return state === null ? null : { id: state.holder, name: state.name };
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 80));
