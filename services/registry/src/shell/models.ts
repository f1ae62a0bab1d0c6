/**
 * The commands of the model registry. A version and its pin are one commit, and so are a removal and the end of the
 * pin.
 */
import type { Plain } from "@trainyard/contracts";
import {
  type ModelChange,
  type ModelWords,
  type Place,
  type RegisterVersion,
} from "@trainyard/contracts/commands";
import type { EventLog } from "@trainyard/event-log";
import { assert, isCheckpointId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import {
  type CommandContext,
  type Executor,
  foldOf,
  refusalOfWorkspace,
  type Work,
  type CommandTable,
} from "@trainyard/runtime";
import type { CheckpointState } from "../core/checkpoint/state.ts";
import type { Holdable } from "../core/foreign/hold.ts";
import type { ModelCommand, WordsChange } from "../core/model/commands.ts";
import { resolve } from "../core/model/names.ts";
import type { ModelEvent } from "../core/model/state.ts";
import { findVersion } from "../core/model/versions.ts";
import { checkpoints, holdables, models } from "../streams.ts";
import type { Telemetry } from "../telemetry.ts";
import { metricsAt } from "./version-metrics.ts";

export type ModelDeps = {
  readonly executor: Executor;
  readonly log: Pick<EventLog, "read">;
  readonly events: Telemetry;
};

/** A command without the fields that all commands share. */
type Asked<All = ModelCommand> = All extends ModelCommand ? Omit<All, "model" | "by"> : never;

export function modelCommands(deps: ModelDeps) {
  const change = (model: string, asked: Asked, context: CommandContext) =>
    changeModel(deps, model, asked, context);
  return {
    CreateModel: async ({ model, words, place }, context) => {
      if (place === undefined) return reject("invalid_request", "place is missing");
      const { workspace } = place;
      const asked = { kind: "create", words: changeOf(words), workspace } as const;
      return changeModel(deps, model, asked, context, place);
    },
    MoveModel: async ({ model, place }, context) => {
      if (place === undefined) return reject("invalid_request", "place is missing");
      return changeModel(deps, model, { kind: "move", workspace: place.workspace }, context, place);
    },
    DescribeModel: ({ model, words }, context) =>
      change(model, { kind: "describe", words: changeOf(words) }, context),
    ArchiveModel: ({ model, archived, reason }, context) =>
      change(model, archived ? { kind: "archive", reason } : { kind: "unarchive" }, context),
    RegisterVersion: (request, context) => registerVersion(deps, request, context),
    DescribeVersion: ({ model, version, words }, context) =>
      change(model, { kind: "describe_version", version, words: changeOf(words) }, context),
    RemoveVersion: ({ model, version, reason }, context) =>
      change(model, { kind: "remove_version", version, reason }, context),
    MoveAlias: ({ model, alias, version, reason }, context) =>
      change(model, { kind: "move_alias", alias, version, reason }, context),
    RemoveAlias: ({ model, alias, reason }, context) =>
      change(model, { kind: "remove_alias", alias, reason }, context),
  } satisfies Partial<CommandTable<"registry">>;
}

/** The holder that pins a version's checkpoint. */
function holderOf(model: string, number: number): string {
  return `model-version:${model}/${number}`;
}

async function changeModel(
  { executor }: ModelDeps,
  model: string,
  asked: Asked,
  { identity }: CommandContext,
  /** The workspace of a new or moved model. */
  place?: Plain<Place>,
): Promise<Plain<ModelChange> | Rejection> {
  const { authid: by } = identity.meta;
  let number = 0;
  // An empty name cannot name a stream, so "?" replaces it; the decision refuses the name.
  const id = model === "" ? "?" : model;
  const result = await executor.execute(identity, async (work) => {
    const closed = place === undefined ? null : await refusalOfWorkspace(work, place);
    if (closed !== null) return closed;
    number = "version" in asked ? await numberOf(work, id, asked.version) : 0;
    const decided = await work.decide(models, id, { ...asked, model, by });
    if (isRejection(decided)) return decided;
    for (const event of decided) await releaseRemoved(work, model, event, by);
    return undefined;
  });
  return isRejection(result) ? result : { position: result.position, number };
}

/** Returns the version's number, or 0 for an unknown name, which the decision refuses. */
async function numberOf(work: Work, model: string, name: string): Promise<number> {
  const version = resolve(model, await work.load(foldOf(models), model), name);
  return isRejection(version) ? 0 : version.number;
}

async function releaseRemoved(
  work: Work,
  model: string,
  event: ModelEvent,
  by: string,
): Promise<void> {
  if (event.type !== "VersionRemoved") return;
  const { checkpoint, number } = event.data;
  const pin = { by, holder: holderOf(model, number) };
  const released = await work.decide(checkpoints, checkpoint, { kind: "unpin", pin });
  assert(!isRejection(released), `checkpoint ${checkpoint} lets go of a holder`);
}

async function registerVersion(
  deps: ModelDeps,
  request: Plain<RegisterVersion>,
  { identity }: CommandContext,
): Promise<Plain<ModelChange> | Rejection> {
  const { checkpoint, semanticVersion, createModel, onlyTrial, place } = request;
  const { executor } = deps;
  if (createModel && place === undefined) return reject("invalid_request", "place is missing");
  const unknown = reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  if (!isCheckpointId(checkpoint)) return unknown;
  const { declared } = (await executor.cache.load(foldOf(checkpoints), checkpoint)).state;
  if (declared === null) return unknown;
  const metrics = declared.trial === "" ? {} : await metricsAt(deps.log, declared);
  const { authid: by } = identity.meta;
  const model = request.model === "" ? "?" : request.model;
  const result = await executor.execute(identity, async (work) => {
    const state = await work.load(foldOf(checkpoints), checkpoint);
    const hold = await work.guard(holdables, checkpoint);
    const refusal = refusalOf(checkpoint, state, hold, onlyTrial);
    if (refusal !== null) return refusal;
    const createIn = createModel && place !== undefined ? place : null;
    const isNew = createIn !== null && !(await work.load(foldOf(models), model)).exists;
    const closed = isNew ? await refusalOfWorkspace(work, createIn) : null;
    if (closed !== null) return closed;
    const { trial, run, step } = declared;
    const registered = { checkpoint, trial, run, step, metrics, semanticVersion };
    const words = changeOf(request.words);
    const workspace = createIn?.workspace ?? null;
    const asked = { kind: "register", registered, words, createIn: workspace } as const;
    const decided = await work.decide(models, model, { ...asked, model: request.model, by });
    if (isRejection(decided)) return decided;
    const version = decided.find(({ type }) => type === "VersionRegistered");
    if (version?.type !== "VersionRegistered") return undefined;
    const holder = holderOf(model, version.data.number);
    const pin = { by, holder, reason: "" };
    const pinned = await work.decide(checkpoints, checkpoint, { kind: "pin", pin });
    return isRejection(pinned) ? pinned : undefined;
  });
  if (isRejection(result)) return result;
  // For a repeated commit, only the log knows the number.
  const { versions } = (await executor.cache.load(foldOf(models), model)).state;
  const version = findVersion(versions, (one) => one.checkpoint === checkpoint && !one.removed);
  if (result.position > 0) deps.events.versionRegistered(model, version?.number ?? 0, checkpoint);
  return { position: result.position, number: version?.number ?? 0 };
}

/** Returns the reason why a checkpoint cannot become a version; null if it can. */
function refusalOf(
  checkpoint: string,
  { declared, status, reason, damage }: CheckpointState,
  hold: Holdable,
  onlyTrial: string,
): Rejection | null {
  if (onlyTrial !== "" && declared?.trial !== onlyTrial) {
    const owner = declared?.uploadedBy ?? `trial ${declared?.trial}`;
    const detail = `a run of trial ${onlyTrial} can register only checkpoints of its trial, and ${checkpoint} belongs to ${owner}`;
    return reject("not_your_run", detail);
  }
  if (status !== "completed") {
    const why = reason === "" ? "its files are being written" : reason;
    return reject("checkpoint_not_complete", `checkpoint ${checkpoint} is not complete: ${why}`);
  }
  if (hold === "deleted") {
    return reject("checkpoint_deleted", `checkpoint ${checkpoint} was deleted`);
  }
  if (hold === "partial") {
    const detail = `files of checkpoint ${checkpoint} were deleted`;
    return reject("checkpoint_deleted", detail);
  }
  if (damage !== null) {
    const detail = `checkpoint ${checkpoint} is damaged: ${damage.problems[0]?.detail ?? "its files differ"}`;
    return reject("checkpoint_damaged", detail);
  }
  if (hold === "kept") return null;
  const detail = `checkpoint ${checkpoint} will be deleted: undo that first with yard checkpoint undelete`;
  return reject("checkpoint_condemned", detail);
}

function changeOf(words: Plain<ModelWords> | undefined): WordsChange {
  return words ?? { addLabels: [], removeLabels: [] };
}
