/** The places of the objects that requests name: their workspace of the moment, and their owner. */
import type { Owned, Rights, Sight } from "@trainyard/access";
import {
  isCheckpointId,
  isExperimentId,
  isTaskId,
  parseRunId,
  parseTaskRunId,
} from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { placeOf } from "../shown.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type {
  CheckpointDocument,
  ExperimentDocument,
} from "../../read-model/core/views/documents.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";
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
  /** The workspaces of the models of which it is a version: a caller who sees one of the models sees it, too. */
  readonly ofModelsIn?: readonly string[];
};

/** Whether a caller sees an object. A folder that a person uploaded is in no workspace: its owner sees it. */
export function isSeen(rights: Rights, found: Found): boolean {
  return (
    rights.has(found.sight, found.workspace) ||
    isOwnUpload(rights, found) ||
    isOfSeenModel(rights, found)
  );
}

/** Whether a checkpoint is a version of a model that the caller sees. */
export const isOfSeenModel = (rights: Rights, { ofModelsIn = [] }: Found): boolean =>
  ofModelsIn.some((workspace) => rights.has("model_view", workspace));

/** Whether an object is a folder that the caller uploaded. */
export const isOwnUpload = (rights: Rights, { workspace, owner }: Found): boolean =>
  workspace === "" && owner !== "" && owner === rights.owner;

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
    const workspace = model.workspace || defaultSpace;
    return { workspace, owner: model.createdBy, sight: "model_view" };
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

/** Whether an object is there and the caller sees it. */
export async function isSeenBy(
  rights: Rights,
  backend: Backend,
  kind: ObjectKind,
  id: string,
): Promise<boolean> {
  const found = await findObject(backend, kind, id);
  return found !== undefined && isSeen(rights, found);
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
  return ofExperiment(found);
}

function ofExperiment(found: ExperimentDocument): Found {
  return { workspace: placeOf(found).workspace, owner: found.owner, sight: "experiment_view" };
}

/** Returns the experiments that are there, with one query. */
export async function experimentsAt(
  { parts }: Backend,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  const keys = ids.filter(isExperimentId).map((id) => ({ kind: "experiment", id }) as const);
  const rows = await parts.documents.fetch(parts.pool, keys);
  return new Map(rows.map(({ id, doc }) => [id, ofExperiment(doc as ExperimentDocument)]));
}

async function taskAt(backend: Backend, id: string): Promise<Found | undefined> {
  if (!isTaskId(id)) return undefined;
  const found = await documentOf(backend, "task", id);
  if (found === undefined) return undefined;
  const workspace = found.workspace || defaultSpace;
  return { workspace, owner: found.owner, sight: "task_view" };
}

/** A checkpoint is of a trial's experiment, of a task, or a folder that a person uploaded. */
async function checkpointAt(backend: Backend, id: string): Promise<Found | undefined> {
  if (!isCheckpointId(id)) return undefined;
  const found = await documentOf(backend, "checkpoint", id);
  if (found === undefined) return undefined;
  const maker =
    found.task === undefined
      ? await experimentAt(backend, found.experiment)
      : await taskAt(backend, found.task);
  const folder = {
    workspace: "",
    owner: found.uploadedBy ?? "",
    sight: "experiment_view",
  } as const;
  const models = await modelsOf(backend, [found]);
  return { ...(maker ?? folder), ofModelsIn: [...models.values()] };
}

/** Returns the workspaces of the models, by name, that have versions among the holders of checkpoints. */
async function modelsOf(
  { parts }: Backend,
  checkpoints: readonly Pick<CheckpointDocument, "pins">[],
): Promise<ReadonlyMap<string, string>> {
  const holders = checkpoints.flatMap(({ pins }) => pins.map(({ holder }) => holder));
  const names = new Set(holders.flatMap((holder) => modelOfHolder(holder) ?? []));
  const keys = [...names].map((id) => ({ kind: "model", id }) as const);
  const rows = await parts.documents.fetch(parts.pool, keys);
  return new Map(
    rows.flatMap((row) =>
      row.kind === "model" ? [[row.id, row.doc.workspace || defaultSpace] as const] : [],
    ),
  );
}

/** Returns the model of a version that holds a checkpoint; null for another holder. */
function modelOfHolder(holder: string): string | null {
  return /^model-version:(.+)\/\d+$/.exec(holder)?.[1] ?? null;
}

/** Returns checkpoints without the versions of models that the caller may not see. */
export async function withSeenPins<Shown extends Pick<CheckpointDocument, "pins">>(
  backend: Backend,
  rights: Rights,
  checkpoints: readonly Shown[],
): Promise<Shown[]> {
  if (rights.everywhere("model_view")) return [...checkpoints];
  const models = await modelsOf(backend, checkpoints);
  const isSeenHolder = (holder: string): boolean => {
    const model = modelOfHolder(holder);
    return model === null || rights.has("model_view", models.get(model) ?? "");
  };
  return checkpoints.map((one) => ({
    ...one,
    pins: one.pins.filter(({ holder }) => isSeenHolder(holder)),
  }));
}

function nullIfMissing(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null;
  throw error;
}
