/** The calls of the model registry. The registry service decides changes; the read model answers queries. */
import { Readable } from "node:stream";
import type { Rights } from "@trainyard/access";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { ModelChange, ModelWords, Place } from "@trainyard/contracts/commands";
import type { Backend } from "../../backend.ts";
import { notOfTask, type TrialRunCaller, type UserCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, UnaryHandlers } from "../../http/request-context.ts";
import { requireReadsFiles } from "../checkpoints/save-files.ts";
import { requireFor, requireIn } from "../rights/guard.ts";
import { findObject, isSeen } from "../rights/objects.ts";
import { registeringRights, workspaceOfCaller } from "../rights/runs.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";
import { versionKey } from "../../read-model/core/views/documents.ts";
import { readContent } from "../../spaces/contents.ts";
import { findWorkspace } from "../../spaces/spaces.ts";
import { findNewPlace, type NewPlace, workspaceLike } from "../rights/new-place.ts";
import { shownModel, shownVersion } from "../shown.ts";
import {
  bestVersions,
  findVersion,
  getModel,
  listAliasMoves,
  listModels,
  listVersions,
} from "./model-queries.ts";

export function modelHandlers(backend: Backend) {
  return {
    unary: { ...queryHandlers(backend), ...changeHandlers(backend) },
    raw: { downloadModelVersionCode: (request) => downloadCode(backend, request) },
  } satisfies SomeHandlers;
}

function queryHandlers(backend: Backend) {
  return {
    listModels: (request, context) => listModels(backend, request, context),
    getModel: (request) => getModel(backend, request),
    listModelVersions: (request) => listVersions(backend, request),
    bestModelVersions: (request) => bestVersions(backend, request),
    getModelVersion: async ({ model, version, minPosition }) => {
      await backend.reachText(minPosition);
      return shownVersion(await findVersion(backend, model, version));
    },
    listModelAliasMoves: (request) => listAliasMoves(backend, request),
  } satisfies Partial<UnaryHandlers>;
}

function changeHandlers(backend: Backend) {
  const command = backend.command.bind(backend);
  return {
    createModel: async ({ name: model, workspace: named, ...given }, context) => {
      const workspace = named || (await workspaceOfCaller(backend, notOfTask(context.caller)));
      const place = await findNewPlace(backend, newPlace(workspace, context));
      const message = { model, words: newWords(given), place };
      return modelAfter(backend, model, await command("registry", "CreateModel", message, context));
    },
    updateModel: async ({ model, ...words }, context) => {
      const message = { model, words };
      return modelAfter(
        backend,
        model,
        await command("registry", "DescribeModel", message, context),
      );
    },
    moveModel: async ({ model, workspace }, context) => {
      const message = { model, place: await findNewPlace(backend, newPlace(workspace, context)) };
      return modelAfter(backend, model, await command("registry", "MoveModel", message, context));
    },
    archiveModel: async ({ model, reason }, context) => {
      const message = { model, archived: true, reason };
      return modelAfter(
        backend,
        model,
        await command("registry", "ArchiveModel", message, context),
      );
    },
    unarchiveModel: async ({ model }, context) => {
      const message = { model, archived: false, reason: "" };
      return modelAfter(
        backend,
        model,
        await command("registry", "ArchiveModel", message, context),
      );
    },
    registerModelVersion: (request, context) => register(backend, request, context),
    updateModelVersion: async ({ model, version, ...words }, context) => {
      const message = { model, version, words };
      return versionAfter(
        backend,
        model,
        await command("registry", "DescribeVersion", message, context),
      );
    },
    removeModelVersion: async ({ model, version, reason }, context) => {
      const message = { model, version, reason };
      return versionAfter(
        backend,
        model,
        await command("registry", "RemoveVersion", message, context),
      );
    },
    moveModelAlias: async ({ model, alias, version, reason }, context) => {
      const message = { model, alias, version, reason };
      return versionAfter(backend, model, await command("registry", "MoveAlias", message, context));
    },
    removeModelAlias: async ({ model, alias, reason }, context) => {
      const message = { model, alias, reason };
      return modelAfter(backend, model, await command("registry", "RemoveAlias", message, context));
    },
  } satisfies Partial<UnaryHandlers>;
}

const newPlace = (workspace: string, { rights }: RequestContext): NewPlace => ({
  workspace,
  rights,
  permission: "model_edit",
});

/** Registers a version; a run may register only checkpoints of its trial. */
async function register(
  backend: Backend,
  request: RequestOf<"registerModelVersion">,
  context: RequestContext,
): Promise<ReplyOf<"registerModelVersion">> {
  const { model, checkpoint, semanticVersion, createModel, ...given } = request;
  const caller = notOfTask(context.caller);
  const onlyTrial = caller.kind === "run" ? caller.trial : "";
  const rights = caller.kind === "run" ? await registeringRights(backend, caller) : context.rights;
  const place = createModel ? await placeOfNew(backend, caller, checkpoint, rights) : undefined;
  await requireRegistering(backend, request, { rights, newIn: place?.workspace ?? "" });
  await requireReadsFiles(backend, checkpoint, { caller, rights });
  const words = newWords(given);
  const asked = { model, checkpoint, semanticVersion, words, createModel, onlyTrial };
  const message = { ...asked, ...(place === undefined ? {} : { place }) };
  const changed = await backend.command("registry", "RegisterVersion", message, context);
  return versionAfter(backend, model, changed);
}

/** Returns the place of a model that a registration creates. The registry decides whether it may be created there. */
async function placeOfNew(
  backend: Backend,
  caller: UserCaller | TrialRunCaller,
  checkpoint: string,
  rights: Rights,
): Promise<Plain<Place>> {
  const isPerson = caller.kind === "user" && caller.run === null;
  const permission = "model_edit";
  const workspace = isPerson
    ? await workspaceLike(backend, "checkpoint", checkpoint, { rights, permission })
    : await workspaceOfCaller(backend, caller);
  const { id, name } = await findWorkspace(backend, workspace);
  const project = { project: defaultSpace, projectId: defaultSpace };
  return { workspace: name, workspaceId: id, ...project };
}

/** Throws a Problem if the caller may not register the version. */
async function requireRegistering(
  backend: Backend,
  { model, checkpoint, createModel }: RequestOf<"registerModelVersion">,
  { rights, newIn }: { readonly rights: Rights; readonly newIn: string },
): Promise<void> {
  if (rights.everywhere("model_edit") && rights.everywhere("experiment_view")) return;
  const found = await findObject(backend, "model", model);
  if (createModel && found === undefined) requireIn(rights, "model_edit", newIn);
  else if (createModel && found !== undefined && !isSeen(rights, found)) {
    // A name that is taken elsewhere is said to be taken.
    throw new Problem(409, "model_exists", `model ${model} exists already`);
  } else requireFor(rights, "model_edit", "model", model, found);
  const source = await findObject(backend, "checkpoint", checkpoint);
  requireFor(rights, "experiment_view", "checkpoint", checkpoint, source);
}

type Given = Pick<RequestOf<"createModel">, "description" | "notes" | "labels" | "metadata">;

/** Empty texts are left out, so that a repeated registration changes nothing. */
function newWords({ description, notes, labels, metadata }: Given): Plain<ModelWords> {
  return {
    addLabels: labels,
    removeLabels: [],
    ...(description === "" ? {} : { description }),
    ...(notes === "" ? {} : { notes }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

async function modelAfter(backend: Backend, name: string, { position }: Plain<ModelChange>) {
  await backend.reach(position);
  const model = shownModel(await backend.get("model", name));
  return { position: String(position || backend.position), model };
}

async function versionAfter(
  backend: Backend,
  model: string,
  { position, number }: Plain<ModelChange>,
) {
  await backend.reach(position);
  const version = shownVersion(await backend.get("version", versionKey(model, number)));
  return { position: String(position || backend.position), version };
}

async function downloadCode(backend: Backend, request: RequestOf<"downloadModelVersionCode">) {
  const { model, number, codeDigest } = await findVersion(backend, request.model, request.version);
  const content = await readContent(backend.parts, { folder: "contexts", digest: codeDigest });
  if (content === null) {
    const why =
      codeDigest === "" ? "was trained without model code" : "has no stored code any more";
    const detail = `version ${number} of model ${model} ${why}`;
    throw new Problem(404, "context_not_found", detail);
  }
  const fileName = `${model}-${number}-code.tar.gz`;
  return { contentType: "application/gzip", fileName, body: Readable.from(content.stream) };
}
