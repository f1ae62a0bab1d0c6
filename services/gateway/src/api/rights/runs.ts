/**
 * The rights of the run of a trial beyond its own calls: it sees the experiments and models of its own workspace of the
 * moment, with any owner. The workspace is folded from the log, so a run needs no read model for it.
 */
import { allRights, Rights } from "@trainyard/access";
import { parseTrialId } from "@trainyard/kernel";
import { checkpointMakers } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import type { TrialRunCaller, UserCaller } from "../../http/caller.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";
import { lastFactsOf } from "../../streams.ts";
import { requireFor } from "./guard.ts";
import { findObject } from "./objects.ts";

/** Returns the rights by which a run registers versions: in models of its workspace and of the default one. */
export async function registeringRights(
  backend: Backend,
  { authid, experiment }: TrialRunCaller,
): Promise<Rights> {
  if (!(await backend.parts.access.state()).hasUsers) return allRights(authid);
  const own = await workspaceOf(backend, experiment);
  const ofModels = new Set(["model_view", "model_edit"] as const);
  const all = new Set([...ofModels, "experiment_view"] as const);
  return new Rights(
    authid,
    new Set(),
    new Map([
      [defaultSpace, ofModels],
      [own, all],
    ]),
  );
}

/**
 * Throws a Problem if a checkpoint is of another workspace than the run, and of no version of a model in it. A cluster
 * without users has no such limit.
 */
export async function requireInOwnWorkspace(
  backend: Backend,
  checkpoint: string,
  { authid, experiment }: TrialRunCaller,
): Promise<void> {
  const { access, executor } = backend.parts;
  if (!(await access.state()).hasUsers) return;
  const { state: maker } = await executor.cache.load(checkpointMakers, checkpoint);
  const source = parseTrialId(maker)?.experiment;
  const own = await workspaceOf(backend, experiment);
  if (source !== undefined && (await workspaceOf(backend, source)) === own) return;
  const rights = new Rights(
    authid,
    new Set(),
    new Map([[own, new Set(["experiment_view", "model_view"] as const)]]),
  );
  const found = await findObject(backend, "checkpoint", checkpoint);
  requireFor(rights, "experiment_view", "checkpoint", checkpoint, found);
}

/** Returns the workspace of what a caller creates without naming one: for a run that of its experiment or task. */
export async function workspaceOfCaller(
  backend: Backend,
  caller: UserCaller | TrialRunCaller,
): Promise<string> {
  if (caller.kind === "run") return workspaceOf(backend, caller.experiment);
  return caller.run === null ? defaultSpace : workspaceOf(backend, caller.run.task, "task");
}

async function workspaceOf(
  { parts }: Backend,
  id: string,
  kind: keyof typeof lastFactsOf = "experiment",
): Promise<string> {
  const { state } = await parts.executor.cache.load(lastFactsOf[kind], id);
  return state?.workspace || defaultSpace;
}
