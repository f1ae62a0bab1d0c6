import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { storeAddress } from "@trainyard/blob";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Accepted, Place } from "@trainyard/contracts/commands";
import type { ExperimentParent } from "@trainyard/contracts/events";
import { type NormalisedConfig, withSeed } from "@trainyard/experiment-config";
import { requestedResources, type StoragePlace } from "@trainyard/experiment-config/recorded";
import { type FieldProblem, idOf, isRejection } from "@trainyard/kernel";
import type { ContentFile } from "@trainyard/runtime";
import { acceptExperiment } from "@trainyard/search";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { creatorOf, tokenOf } from "../../http/caller.ts";
import { Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { namingContents, storeContent } from "../../spaces/contents.ts";
import { findNewPlace } from "../rights/new-place.ts";
import { storeSubmission } from "../../spaces/submissions.ts";
import { shownWarnings } from "../container-warnings.ts";
import { refuseImpossible } from "../possible-place.ts";
import { shownExperiment } from "../shown.ts";
import { type CheckedContext, checkContext, inPieces } from "./context-archive.ts";
import { refuseForeignExperiments } from "./earlier-experiments.ts";
import { scriptCheck } from "./script-check.ts";
import { sourceUserWarnings } from "./source-user.ts";
import { recordOf, refuseMasked, type Submitted } from "./submitted.ts";
import { resolveSource } from "./warm-start.ts";

export type WrittenConfig = Pick<RequestOf<"createExperiment">, "config" | "overrides">;

type AcceptedConfig = {
  readonly config: NormalisedConfig;
  readonly place: Plain<Place>;
  readonly warnings: readonly string[];
};

type Submission = AcceptedConfig & {
  readonly submitted: Submitted;
  /** The code of the experiment; null for none. `packed` is absent if it is stored already. */
  readonly code: (CheckedContext & { readonly packed?: Uint8Array }) | null;
  readonly paused: boolean;
  /** The parent, if the experiment is a fork. */
  readonly parent?: Plain<ExperimentParent>;
};

/**
 * Validates the request, stores the code under its digest, and creates the experiment. A refused request stores
 * nothing.
 */
export async function createExperiment(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  request: RequestOf<"createExperiment">,
  context: RequestContext,
): Promise<ReplyOf<"createExperiment">> {
  const accepted = await acceptConfig(backend, checkpointStorage, request, context);
  const packed = request.context;
  const code = packed.length === 0 ? null : await checkedCode(packed, accepted.config);
  if (request.validateOnly) return { warnings: accepted.warnings, position: backend.position };
  const { config: text, overrides, client, repository, paused } = request;
  const submitted = { text, overrides, client, repository };
  return submit(backend, { ...accepted, submitted, code, paused }, context);
}

async function checkedCode(packed: Uint8Array, config: NormalisedConfig) {
  return { ...(await checkContext(packed, scriptCheck(config))), packed };
}

/** Returns the configuration with its defaults. Throws a Problem if the cluster cannot run it. */
export async function acceptConfig(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  written: WrittenConfig,
  context: RequestContext,
): Promise<AcceptedConfig> {
  const { config: read, warnings } = readConfig(written, checkpointStorage, context.commitId);
  const place = await placeOf(backend, read, context);
  const config = await resolveSource(backend, read, context);
  await refuseImpossible(backend, requestedResources(config), context);
  await refuseStorage(backend, config.checkpoint_storage, context);
  if (config.tensorboard_storage !== undefined) {
    await refuseStorage(backend, config.tensorboard_storage, context, "tensorboard_storage");
  }
  await refuseForeignExperiments(backend, config, context);
  const shown = await shownWarnings(backend, warnings, config.resources.resource_pool);
  const unread = await sourceUserWarnings(backend, config);
  return { config, place, warnings: [...shown, ...unread] };
}

/** Finds the workspace and project like `findPlace`, with errors that have the paths of the configuration. */
async function placeOf(
  backend: Backend,
  { workspace, project }: NormalisedConfig,
  { rights }: RequestContext,
): Promise<Plain<Place>> {
  try {
    const permission = "experiment_create";
    return await findNewPlace(backend, { workspace, project, rights, permission });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, message: detail } = error;
    const path = code.startsWith("project") ? "project" : "workspace";
    const problems = [{ path, detail }];
    throw new Problem(status === 404 ? 400 : status, code, `${path}: ${detail}`, { problems });
  }
}

/** Stores the code and the submission, and creates the experiment. */
export async function submit(
  backend: Backend,
  submission: Submission,
  context: RequestContext,
): Promise<ReplyOf<"createExperiment">> {
  const { warnings } = submission;
  const accepted = await namingContents(() => ask(backend, submission, context));
  await backend.reach(accepted.position);
  const experiment = await backend.get("experiment", idOf(accepted.stream));
  const shown = shownExperiment(experiment, await backend.configOf(experiment.id));
  return { experiment: shown, warnings, position: String(accepted.position) };
}

async function ask(
  backend: Backend,
  { config, place, submitted, code, paused, parent }: Submission,
  context: RequestContext,
): Promise<Plain<Accepted>> {
  const contextFile = code === null ? null : await storeCode(backend, code);
  const submission = await storeSubmission(backend, recordOf(submitted, config));
  return backend.command(
    "experiments",
    "CreateExperiment",
    {
      config,
      configSourceDigest: createHash("sha256").update(submitted.text).digest("hex"),
      contextDigest: code?.digest ?? "",
      contextBytes: code?.bytes ?? 0,
      seed: config.reproducibility.experiment_seed ?? 0,
      owner: creatorOf(context.caller),
      tokenId: tokenOf(context.caller),
      paused,
      submissionDigest: submission.digest,
      contextDeletions: contextFile?.deletions ?? 0,
      submissionDeletions: submission.deletions,
      place,
      ...(parent === undefined ? {} : { parent }),
    },
    context,
  );
}

function readConfig(
  request: WrittenConfig,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  commitId: string,
): { readonly config: NormalisedConfig; readonly warnings: readonly FieldProblem[] } {
  refuseMasked(request.config, request.overrides);
  const parsed = acceptExperiment(request.config, {
    overrides: request.overrides,
    defaults: { checkpoint_storage: checkpointStorage },
  });
  if (isRejection(parsed)) throw problemOf(parsed);
  const drawn = parsed.config.reproducibility.experiment_seed ?? seedFor(commitId);
  const config = withSeed(parsed.config, drawn);
  return { config, warnings: parsed.warnings };
}

/**
 * Derives the seed from the commit id: a repeat with the same idempotency key gets the same seed. Without a key the
 * commit id is random.
 */
function seedFor(commitId: string): number {
  return createHash("sha256").update(`experiment seed ${commitId}`).digest().readUInt32BE(0);
}

/**
 * Refuses an unusable object store, and a storage of another cluster. The registry, which has the credentials, looks at
 * it. Throws a 503 if the registry or the object store is unavailable.
 */
export async function refuseStorage(
  backend: Backend,
  storage: StoragePlace | GatewayConfig["checkpointStorage"],
  context: RequestContext,
  path: "checkpoint_storage" | "tensorboard_storage" = "checkpoint_storage",
): Promise<void> {
  const message = { storage: { ...storage } };
  const probing = backend.command("registry", "ProbeStorage", message, context);
  const isDirectory = storeAddress(storage) === null;
  const { problems } = await probing.catch((error: unknown) => {
    // The first declaration asks again.
    if (isDirectory && error instanceof Problem && error.status === 503) return { problems: [] };
    throw error;
  });
  const [detail] = problems;
  if (detail === undefined) return;
  const told = problems.map((problem) => ({ path, detail: problem }));
  throw new Problem(400, "storage_unusable", `${path}: ${detail}`, { problems: told });
}

async function storeCode(
  { parts }: Backend,
  { digest, packed }: NonNullable<Submission["code"]>,
): Promise<ContentFile> {
  const bytes = packed === undefined ? undefined : () => Readable.from(inPieces(packed));
  const file = await storeContent(parts, { folder: "contexts", digest }, bytes);
  if (file !== null) return file;
  const detail = "the code of the experiment is no longer stored: create one with your code";
  throw new Problem(409, "context_not_found", detail);
}
