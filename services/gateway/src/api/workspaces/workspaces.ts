/** The calls about workspaces and projects: the gateway decides changes itself, and the read model lists them. */
import { accessId } from "@trainyard/access";
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { isRejection, type Rejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { revisionOf } from "../../http/etag.ts";
import { Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { projectList, workspaceList } from "../../read-model/core/lists/lists.ts";
import { defaultSpace, projectKey } from "../../read-model/core/views/project-space.ts";
import { isDefaultName } from "../../spaces/core/name.ts";
import type { SpaceCommand } from "../../spaces/core/space.ts";
import { ownCommit } from "../../spaces/own-commit.ts";
import { findProject, findWorkspace, nameId, type Space } from "../../spaces/spaces.ts";
import { access, names, projects, workspaces } from "../../streams.ts";
import { rowsPage, shownColumns, withoutArchived } from "../lists.ts";
import { shownProject, shownWorkspace } from "../shown.ts";
import { moveExperiments } from "./move-experiments.ts";

export function workspaceHandlers(backend: Backend) {
  return {
    ...ofWorkspaces(backend),
    ...ofProjects(backend),
    moveExperiments: (request, context) => moveExperiments(backend, request, context),
  } satisfies Partial<UnaryHandlers>;
}

type Asked<All = SpaceCommand> = All extends SpaceCommand ? Omit<All, "by"> : never;

function ofWorkspaces(backend: Backend) {
  const change = async (name: string, asked: Asked, context: RequestContext) => {
    const workspace = await findWorkspace(backend, name);
    refuseDefault(workspace, "the default workspace");
    const command = { ...asked, by: context.caller.authid };
    const position = await commit(backend, context, workspace.name, async (work) => {
      const decided = await work.decide(workspaces, workspace.id, command);
      return isRejection(decided) ? decided : undefined;
    });
    return workspaceAfter(backend, workspace.id, position);
  };
  return {
    createWorkspace: (request, context) => createWorkspace(backend, request, context),
    listWorkspaces: (request, context) => listWorkspaces(backend, request, context),
    getWorkspace: async ({ workspace: name, minPosition }) => {
      await backend.reachText(minPosition);
      const workspace = await findWorkspace(backend, name);
      return shownWorkspace(await backend.get("workspace", workspace.id));
    },
    updateWorkspace: ({ workspace, ...words }, context) =>
      change(
        workspace,
        { kind: "describe", ...words, ifRevision: revisionOf(context.ifMatch) },
        context,
      ),
    archiveWorkspace: ({ workspace, reason }, context) =>
      change(workspace, { kind: "archive", reason }, context),
    unarchiveWorkspace: ({ workspace }, context) =>
      change(workspace, { kind: "unarchive" }, context),
  } satisfies Partial<UnaryHandlers>;
}

function ofProjects(backend: Backend) {
  const change = async (
    { workspace: within, project: name }: { readonly workspace: string; readonly project: string },
    asked: Asked,
    context: RequestContext,
  ) => {
    const workspace = await findWorkspace(backend, within);
    const project = await findProject(backend, workspace, name);
    refuseDefault(project, "the default project of a workspace");
    const command = { ...asked, by: context.caller.authid };
    const position = await commit(backend, context, workspace.name, async (work) => {
      const decided = await work.decide(projects, project.id, command);
      return isRejection(decided) ? decided : undefined;
    });
    return projectAfter(backend, workspace, project.id, position);
  };
  return {
    createProject: (request, context) => createProject(backend, request, context),
    listProjects: (request, context) => listProjects(backend, request, context),
    getProject: async ({ workspace: within, project: name, minPosition }) => {
      await backend.reachText(minPosition);
      const workspace = await findWorkspace(backend, within);
      const { id } = await findProject(backend, workspace, name);
      return projectOf(backend, workspace, id);
    },
    updateProject: ({ workspace, project, ...words }, context) =>
      change(
        { workspace, project },
        { kind: "describe", ...words, ifRevision: revisionOf(context.ifMatch) },
        context,
      ),
    archiveProject: ({ workspace, project, reason }, context) =>
      change({ workspace, project }, { kind: "archive", reason }, context),
    unarchiveProject: ({ workspace, project }, context) =>
      change({ workspace, project }, { kind: "unarchive" }, context),
  } satisfies Partial<UnaryHandlers>;
}

/**
 * Creates a workspace and reserves its name in the same commit. A repeat with the same idempotency key derives the same
 * id, and so finds its own reservation.
 */
async function createWorkspace(
  backend: Backend,
  { name, description, notes }: RequestOf<"createWorkspace">,
  context: RequestContext,
) {
  if (isDefaultName(name)) throw taken("workspace", name);
  const { commitId: id } = context;
  const { authid: by } = context.caller;
  const position = await commit(backend, context, name, async (work) => {
    const command = { kind: "create", name, description, notes, workspace: "", by } as const;
    const decided = await work.decide(workspaces, id, command);
    if (isRejection(decided)) return decided;
    const reservation = { kind: "workspace", name, holder: id, workspace: "" };
    const reserved = await work.decide(names, nameId("workspace", name), reservation);
    if (isRejection(reserved)) return reserved;
    return giveToCreator(work, name, context);
  });
  return workspaceAfter(backend, id, position);
}

/** Makes the creator of a workspace its admin, unless it is one everywhere. */
async function giveToCreator(
  work: Work,
  workspace: string,
  { rights, caller, commitId }: RequestContext,
): Promise<Rejection | undefined> {
  if (rights.everywhere("workspace_admin") || caller.kind === "run") return undefined;
  const grant = {
    grant: commitId,
    role: "workspace-admin",
    user: caller.user,
    group: "",
    workspace,
  };
  const given = await work.decide(access, accessId, { kind: "give", ...grant, by: caller.authid });
  return isRejection(given) ? given : undefined;
}

async function createProject(
  backend: Backend,
  { workspace: within, name, description, notes }: RequestOf<"createProject">,
  context: RequestContext,
) {
  const workspace = await findWorkspace(backend, within);
  if (isDefaultName(name)) throw taken("project", name);
  const { commitId: id } = context;
  const { authid: by } = context.caller;
  const position = await commit(backend, context, workspace.name, async (work) => {
    if (workspace.id !== defaultSpace) {
      const { archived } = await work.guard(foldOf(workspaces), workspace.id);
      if (archived) return archivedRejection(workspace);
    }
    const command = {
      kind: "create",
      name,
      description,
      notes,
      workspace: workspace.id,
      by,
    } as const;
    const decided = await work.decide(projects, id, command);
    if (isRejection(decided)) return decided;
    const reservation = { kind: "project", name, holder: id, workspace: workspace.id };
    const reserved = await work.decide(names, nameId("project", name, workspace.id), reservation);
    return isRejection(reserved) ? reserved : undefined;
  });
  return projectAfter(backend, workspace, id, position);
}

async function commit(
  backend: Backend,
  context: RequestContext,
  workspace: string,
  decide: (work: Work) => Promise<Rejection | undefined>,
): Promise<number> {
  const result = await backend.parts.executor.execute(ownCommit(context, workspace), decide);
  if (isRejection(result)) throw problemOf(result);
  // Without a change the state may still be newer than the read model, so the read waits for the head of the log.
  await backend.reach(result.position || (await backend.parts.log.head()));
  return result.position;
}

async function workspaceAfter(
  backend: Backend,
  id: string,
  position: number,
): Promise<ReplyOf<"createWorkspace">> {
  const workspace = shownWorkspace(await backend.get("workspace", id));
  return { position: String(position || backend.position), workspace };
}

async function projectAfter(
  backend: Backend,
  workspace: Space,
  id: string,
  position: number,
): Promise<ReplyOf<"createProject">> {
  const project = await projectOf(backend, workspace, id);
  return { position: String(position || backend.position), project };
}

async function projectOf(backend: Backend, workspace: Space, id: string) {
  const doc = await backend.get("project", projectKey(workspace.id, id));
  return shownProject(doc, await backend.get("workspace", workspace.id));
}

async function listWorkspaces(
  backend: Backend,
  request: RequestOf<"listWorkspaces">,
  context: RequestContext,
): Promise<ReplyOf<"listWorkspaces">> {
  const conditions = withoutArchived(request);
  const { items, ...page } = await rowsPage(backend, workspaceList, request, {
    context,
    conditions,
  });
  return { ...page, items: items.map(shownWorkspace) };
}

async function listProjects(
  backend: Backend,
  request: RequestOf<"listProjects">,
  context: RequestContext,
): Promise<ReplyOf<"listProjects">> {
  await backend.reachText(request.minPosition);
  const { id: scope } = await findWorkspace(backend, request.workspace);
  const { items, ...page } = await rowsPage(backend, projectList, request, {
    context,
    scope,
    conditions: withoutArchived(request),
    columns: await shownColumns(backend, projectList, scope),
  });
  const workspace = await backend.get("workspace", scope);
  return { ...page, items: items.map((doc) => shownProject(doc, workspace)) };
}

function refuseDefault({ id }: Space, what: string): void {
  if (id !== defaultSpace) return;
  throw new Problem(409, "default_space", `${what} always exists as it is: create another`);
}

function taken(kind: "workspace" | "project", name: string): Problem {
  const detail =
    name === "" ? `a ${kind} needs a name` : `there is a ${kind} ${defaultSpace} already`;
  return name === ""
    ? new Problem(400, "invalid_request", detail)
    : new Problem(409, `${kind}_exists`, detail);
}

function archivedRejection({ name }: Space): Rejection {
  const detail = `the workspace ${JSON.stringify(name)} is archived: unarchive it first`;
  return { rejected: "workspace_archived", detail };
}
