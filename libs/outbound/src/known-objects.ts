/** Reads where the objects of events are now, from the folds of their streams. */
import type { Sight } from "@trainyard/access";
import type { AnyEvent } from "@trainyard/contracts";
import { categoryOf, idOf, isTaskId } from "@trainyard/kernel";
import type { FoldCache, StreamFold } from "@trainyard/runtime";
import type { ExperimentFacts } from "./filter.ts";
import { jobOf, type KnownObjects, type ObjectFacts } from "./rights.ts";

export type ObjectSource = {
  readonly cache: Pick<FoldCache, "load">;
  /** Returns the facts of experiments and tasks by id. */
  readonly jobs: (
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, Pick<ExperimentFacts, "workspace">>>;
};

const defaultSpace = "default";

const textFold = (
  category: string,
  evolve: (text: string, event: AnyEvent) => string,
): StreamFold<string> => ({ name: `${category}-sight`, category, initial: "", evolve });

/** The trial or the task that declared a checkpoint; empty for none, and for a folder that a person uploaded. */
export const checkpointMakers = textFold("checkpoint", (maker, { type, data }) =>
  type === "CheckpointDeclared" ? (data.task ?? data.trial) : maker,
);

const modelWorkspaces = textFold("model", (workspace, { type, data }) =>
  type === "ModelCreated" || type === "ModelMoved" ? data.workspace || defaultSpace : workspace,
);

/** The names of workspaces, which never change. */
const workspaceNames = textFold("workspace", (name, { type, data }) =>
  type === "WorkspaceCreated" ? data.name : name,
);

/** The ids of the workspaces of projects. */
const projectWorkspaces = textFold("project", (workspace, { type, data }) =>
  type === "ProjectCreated" ? data.workspace : workspace,
);

const tokenOwners = textFold("token", (owner, { type, data }) =>
  type === "TokenIssued" ? data.owner : owner,
);

/** Returns the facts of the objects that exist. */
export async function readObjects(
  source: ObjectSource,
  objects: Iterable<string>,
): Promise<KnownObjects> {
  const known = new Map<string, ObjectFacts>();
  const jobs = new Set<string>();
  const makersOf = new Map<string, string>();
  for (const object of new Set(objects)) {
    const id = idOf(object);
    switch (categoryOf(object)) {
      case "experiment":
      case "task":
        jobs.add(id);
        break;
      case "checkpoint": {
        const job = idOf(jobOf(await stateOf(source, checkpointMakers, id)));
        makersOf.set(object, job);
        jobs.add(job);
        break;
      }
      case "model":
        place(known, object, "model_view", await stateOf(source, modelWorkspaces, id));
        break;
      case "workspace":
        place(known, object, "workspace_view", await nameOf(source, id));
        break;
      case "project": {
        const workspace = await stateOf(source, projectWorkspaces, id);
        place(known, object, "workspace_view", await nameOf(source, workspace));
        break;
      }
      case "token":
        known.set(object, { owner: await stateOf(source, tokenOwners, id) });
        break;
    }
  }
  const facts = await source.jobs([...jobs].filter((id) => id !== ""));
  for (const [id, { workspace }] of facts) {
    const isTask = isTaskId(id);
    place(known, jobOf(id), isTask ? "task_view" : "experiment_view", workspace || defaultSpace);
  }
  for (const [checkpoint, job] of makersOf) {
    const found = known.get(jobOf(job));
    if (found !== undefined) known.set(checkpoint, found);
  }
  return known;
}

function place(
  known: Map<string, ObjectFacts>,
  object: string,
  sight: Sight,
  workspace: string,
): void {
  if (workspace !== "") known.set(object, { sight, workspace });
}

async function nameOf(source: ObjectSource, workspace: string): Promise<string> {
  return workspace === defaultSpace ? defaultSpace : stateOf(source, workspaceNames, workspace);
}

async function stateOf(
  { cache }: ObjectSource,
  fold: StreamFold<string>,
  id: string,
): Promise<string> {
  return id === "" ? "" : (await cache.load(fold, id)).state;
}
