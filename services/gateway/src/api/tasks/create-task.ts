/** Creates tasks. A refused request stores nothing. */
import { Readable } from "node:stream";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Accepted } from "@trainyard/contracts/commands";
import { maskedDocument, parseTask } from "@trainyard/experiment-config";
import {
  taskConfig,
  requestedTaskResources,
  type TaskConfig,
  type TaskKind,
  taskKinds,
  taskName,
} from "@trainyard/experiment-config/recorded";
import { type FieldProblem, idOf, isRejection, type JsonObject } from "@trainyard/kernel";
import type { ContentFile } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { tokenOf } from "../../http/caller.ts";
import type { GatewayConfig } from "../../config.ts";
import { Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { namingContents, storeContent } from "../../spaces/contents.ts";
import { findNewPlace, workspaceLike } from "../rights/new-place.ts";
import { type CheckedContext, checkContext, inPieces } from "../experiments/context-archive.ts";
import { refuseMasked } from "../experiments/submitted.ts";
import { refuseStorage } from "../experiments/create-experiment.ts";
import { shownWarnings } from "../container-warnings.ts";
import { refuseImpossible } from "../possible-place.ts";
import { shownTask } from "../shown.ts";
import { checkedSources } from "./task-sources.ts";

type Submission = {
  readonly kind: TaskKind;
  readonly config: TaskConfig;
  readonly workspace: string;
  readonly sources: readonly string[];
  /** The packed folder; null for none. */
  readonly code: (CheckedContext & { readonly packed: Uint8Array }) | null;
};

export async function createTask(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  request: RequestOf<"createTask">,
  context: RequestContext,
): Promise<ReplyOf<"createTask">> {
  const kind = kindOf(request.kind);
  const { config, warnings: written } = readConfig(request, kind, checkpointStorage);
  const warnings = await shownWarnings(backend, written, config.resources.resource_pool);
  const sources = await checkedSources(backend, kind, request.sources, context);
  const named =
    request.workspace || config.workspace || (await ofSource(backend, sources, context));
  const workspace = await workspaceOf(backend, named, context);
  await refuseImpossible(backend, requestedTaskResources(config), context, "slots");
  if (config.checkpoint_storage !== undefined) {
    await refuseStorage(backend, config.checkpoint_storage, context);
  }
  const packed = request.context;
  const code = packed.length === 0 ? null : { ...(await checkContext(packed, null)), packed };
  if (request.validateOnly) return { warnings, position: backend.position };
  const submission = { kind, config, workspace, sources, code };
  const { stream, position } = await namingContents(() => ask(backend, submission, context));
  await backend.reach(position);
  const task = await backend.get("task", idOf(stream));
  const shown = shownTask(task, await backend.configOf(task.id));
  return { task: shown, warnings, position: String(position) };
}

function kindOf(kind: string): TaskKind {
  const known = taskKinds.find((one) => one === kind);
  if (known !== undefined) return known;
  const detail = `kind must be one of ${taskKinds.join(", ")}, not ${JSON.stringify(kind.slice(0, 60))}`;
  throw new Problem(400, "invalid_request", detail);
}

function readConfig(
  { config: text, overrides, command }: RequestOf<"createTask">,
  kind: TaskKind,
  checkpointStorage: GatewayConfig["checkpointStorage"],
): { readonly config: TaskConfig; readonly warnings: readonly FieldProblem[] } {
  refuseMasked(text, overrides);
  const defaults = { checkpoint_storage: checkpointStorage };
  const parsed = parseTask(text, { kind, command, overrides, defaults });
  if (isRejection(parsed)) throw problemOf(parsed);
  return parsed;
}

/** Returns the workspace of a TensorBoard's first source if the caller may start tasks there; empty otherwise. */
async function ofSource(
  backend: Backend,
  [source]: readonly string[],
  { rights }: RequestContext,
): Promise<string> {
  if (source === undefined) return "";
  // The id of a trial begins with that of its experiment.
  return workspaceLike(backend, "trial", source, { rights, permission: "task_create" });
}

/** Returns the name of the task's workspace; an empty one is the default one. */
async function workspaceOf(
  backend: Backend,
  workspace: string,
  { rights }: RequestContext,
): Promise<string> {
  try {
    return (await findNewPlace(backend, { workspace, rights, permission: "task_create" }))
      .workspace;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, message: detail } = error;
    const problems = [{ path: "workspace", detail }];
    throw new Problem(status === 404 ? 400 : status, code, `workspace: ${detail}`, { problems });
  }
}

async function ask(
  backend: Backend,
  { kind, config, workspace, sources, code }: Submission,
  context: RequestContext,
): Promise<Plain<Accepted>> {
  const file = code === null ? null : await storeCode(backend, code);
  return backend.command(
    "experiments",
    "CreateTask",
    {
      kind,
      config,
      name: shownName(config, kind, sources),
      contextDigest: code?.digest ?? "",
      contextBytes: code?.bytes ?? 0,
      contextDeletions: file?.deletions ?? 0,
      owner: context.caller.authid,
      workspace,
      tokenId: tokenOf(context.caller),
      sources: [...sources],
    },
    context,
  );
}

/** Returns the name for lists, which show no secret that the configuration masks. */
function shownName(config: TaskConfig, kind: TaskKind, sources: readonly string[]): string {
  return taskName(taskConfig(maskedDocument({ ...config } as JsonObject)), kind, sources);
}

async function storeCode(
  { parts }: Backend,
  { digest, packed }: NonNullable<Submission["code"]>,
): Promise<ContentFile | null> {
  return storeContent(parts, { folder: "contexts", digest }, () => Readable.from(inPieces(packed)));
}
