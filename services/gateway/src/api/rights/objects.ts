/** The places of the objects that requests name: their workspace of the moment, and their owner. */
import type { Owned, Sight } from "@trainyard/access";
import { isExperimentId, isTaskId, parseRunId, parseTaskRunId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { wholeCheckpointId } from "../short-checkpoint-ids.ts";
import { placeOf } from "../shown.ts";
import { notFound, Problem } from "../../http/problem.ts";
import { findWorkspace, noSuchWorkspace } from "../../spaces/spaces.ts";

/** The kinds of objects that options of calls name. */
export type ObjectKind =
  | "experiment"
  | "trial"
  | "checkpoint"
  | "task"
  | "model"
  | "workspace"
  | "job"
  | "run";

/** An object that is there. */
export type Found = Owned & {
  /** The permission without which it is answered as if it were not there. */
  readonly sight: Sight;
  /** The models of which it is a version. A caller who may see one of them may see it, too. */
  readonly models?: readonly string[];
};

type Find = (backend: Backend, id: string) => Promise<Found | undefined>;

/** How an object is found; undefined if it is not there. */
const finders: Readonly<Record<ObjectKind, Find>> = {
  experiment: experimentAt,
  // The id of a trial begins with its experiment's.
  trial: (backend, id) => experimentAt(backend, id.split(".")[0] ?? ""),
  checkpoint: checkpointAt,
  task: taskAt,
  async model(backend, id) {
    const model = await documentOf(backend, "model", id);
    if (model === undefined) return undefined;
    return { workspace: model.workspace, owner: model.createdBy, sight: "model_view" };
  },
  async workspace(backend, name) {
    const found = await findWorkspace(backend, name).catch(nullIfMissing);
    if (found === null) return undefined;
    return { workspace: found.name, owner: "", sight: "workspace_view" };
  },
  job: (backend, id) => (isTaskId(id) ? taskAt(backend, id) : experimentAt(backend, id)),
  run(backend, id) {
    const trial = parseRunId(id);
    if (trial !== null) return experimentAt(backend, trial.experiment);
    const task = parseTaskRunId(id);
    return task === null ? Promise.resolve(undefined) : taskAt(backend, task.task);
  },
};

/** Returns the object; undefined if it is not there. */
export function findObject(
  backend: Backend,
  kind: ObjectKind,
  id: string,
): Promise<Found | undefined> {
  return finders[kind](backend, id);
}

/** The answer for an object that is not there, the same as its handler gives. */
export function missing(kind: ObjectKind, id: string): Problem {
  return kind === "workspace" ? noSuchWorkspace(id) : notFound(kind, id);
}

async function documentOf<Kind extends "experiment" | "task" | "model" | "checkpoint">(
  { parts }: Backend,
  kind: Kind,
  id: string,
) {
  // No id has a NUL, since PostgreSQL cannot store it in a text.
  if (id.includes("\0")) return undefined;
  return parts.documents.get(parts.pool, kind, id);
}

async function experimentAt(backend: Backend, id: string): Promise<Found | undefined> {
  if (!isExperimentId(id)) return undefined;
  const found = await documentOf(backend, "experiment", id);
  if (found === undefined) return undefined;
  return { workspace: placeOf(found).workspace, owner: found.owner, sight: "experiment_view" };
}

async function taskAt(backend: Backend, id: string): Promise<Found | undefined> {
  if (!isTaskId(id)) return undefined;
  const found = await documentOf(backend, "task", id);
  if (found === undefined) return undefined;
  return { workspace: found.workspace, owner: found.owner, sight: "task_view" };
}

/** A checkpoint is of a trial's experiment or of a task. */
async function checkpointAt(backend: Backend, text: string): Promise<Found | undefined> {
  const id = await wholeCheckpointId(backend, text);
  const found = await documentOf(backend, "checkpoint", id);
  if (found === undefined) return undefined;
  const { experiment, task } = found as typeof found & { readonly task?: string };
  return task === undefined || task === ""
    ? experimentAt(backend, experiment)
    : taskAt(backend, task);
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null;
  throw error;
}
