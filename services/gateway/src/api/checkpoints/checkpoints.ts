import { allRights } from "@trainyard/access";
import { basename, dirname } from "node:path";
import { globMatcher, problemOfGlob, problemOfStorage, type StorageDisk } from "@trainyard/blob";
import type { RequestOf } from "@trainyard/contracts";
import { isCheckpointId, parseRunId, parseTaskRunId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { archiveOf } from "../../http/archive.ts";
import { asUser } from "../../http/caller.ts";
import { notFound, Problem, unavailable } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers } from "../../http/request-context.ts";
import { comparison } from "../../read-model/core/lists/filter.ts";
import { checkpointList } from "../../read-model/core/lists/lists.ts";
import type { CheckpointDocument } from "../../read-model/core/views/documents.ts";
import { withSeenPins } from "../rights/objects.ts";
import { refuseStorage } from "../experiments/create-experiment.ts";
import { valuesOf } from "../experiments/whole.ts";
import { type ListScope, rowsPage } from "../lists.ts";
import { requireOwnRun } from "../runs/runs.ts";
import { shownCheckpoint } from "../shown.ts";
import { usableTask } from "../tasks/access.ts";
import { downloadObjects } from "./download-objects.ts";
import { refuseForeign } from "./foreign.ts";
import { refusalOfFiles, requireReadsFiles } from "./save-files.ts";

export function checkpointHandlers(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
) {
  return {
    unary: {
      listCheckpoints: (request, context) => listCheckpoints(backend, request, context),
      getCheckpoint: async ({ checkpoint }, context) => {
        await refuseForeign(backend, checkpoint, context.caller);
        return getCheckpoint(backend, checkpoint, context);
      },
      declareCheckpoint: async (request, context) =>
        declare(backend, checkpointStorage, request, await uploading(request.run, context)),
      completeCheckpoint: async (request, context) =>
        complete(backend, request, await uploading(request.run, context)),
      failCheckpoint: (request, context) => fail(backend, request, context),
      readCheckpointAhead: (request, context) => readAhead(backend, request, context),
      reportDamagedCheckpoint: async (request, context) => {
        await refuseForeign(backend, request.checkpoint, context.caller);
        return reportDamage(backend, request, context);
      },
      planDownload: async ({ checkpoint }, context) => {
        await refuseForeign(backend, checkpoint, context.caller);
        await requireReadsFiles(backend, checkpoint, context);
        return plan(backend, checkpoint, context);
      },
      planUpload: async (request, context) =>
        planUpload(backend, request, await uploading(request.run, context)),
      planTensorBoard: (request, context) => planTensorBoard(backend, request, context),
      planFiles: async (request, context) => {
        await refuseForeign(backend, request.checkpoint, context.caller);
        await requireReadsFiles(backend, request.checkpoint, context);
        return planFiles(backend, request, context);
      },
    },
    raw: {
      downloadCheckpoint: (request, context) => download(backend, request, context),
    },
  } satisfies SomeHandlers;
}

async function listCheckpoints(
  backend: Backend,
  request: RequestOf<"listCheckpoints">,
  context: RequestContext,
) {
  await backend.reachText(request.minPosition);
  const scope = await scopeOf(backend, request, context);
  const { items, ...page } = await rowsPage(backend, checkpointList, request, {
    context,
    ...scope,
  });
  const seen = await withSeenPins(backend, context.rights, items);
  return { ...page, items: seen.map(shownCheckpoint) };
}

/** Returns the part of the list: an experiment's, a trial's, or the saves of a task. */
async function scopeOf(
  backend: Backend,
  { experiment, trial, task }: RequestOf<"listCheckpoints">,
  { caller }: RequestContext,
): Promise<Pick<ListScope, "scope" | "conditions">> {
  if (task !== "") return { scope: (await usableTask(backend, task, caller)).id };
  if (trial === "") return { scope: (await backend.get("experiment", experiment)).id };
  const found = await backend.get("trial", trial);
  return { scope: found.experiment, conditions: [comparison("trial", "=", found.id)] };
}

async function getCheckpoint(backend: Backend, id: string, context: RequestContext) {
  const found = await backend.get("checkpoint", id);
  const rights = context.caller.kind === "run" ? allRights("") : context.rights;
  const [document = found] = await withSeenPins(backend, rights, [found]);
  const checkpoint = { ...shownCheckpoint(document), ...(await originOf(backend, document)) };
  if (!hasFiles.has(checkpoint.state)) return checkpoint;
  if ((await refusalOfFiles(backend, id, context)) !== null) return checkpoint;
  const { manifest, storageId } = await plan(backend, id, context);
  return { ...checkpoint, manifest, ...(storageId && { storageId }) };
}

/** The states in which the registry returns the manifest of a checkpoint. */
const hasFiles: ReadonlySet<string> = new Set(["COMPLETED", "PARTIALLY_DELETED"]);

/** Returns the code, hyperparameters and metrics of the trial that made a checkpoint. */
async function originOf(
  backend: Backend,
  { trial, experiment, stepsCompleted }: CheckpointDocument,
) {
  // Hidden documents are read too: a checkpoint that others need is shown while its experiment is deleted.
  const { documents, pool } = backend.parts;
  const [ofTrial, ofExperiment] = await Promise.all([
    documents.get(pool, "trial", trial),
    documents.get(pool, "experiment", experiment),
  ]);
  const ofStep = [...(ofTrial?.recent ?? []), ...(ofTrial?.records ?? [])]
    .filter(({ step }) => step === stepsCompleted)
    .toSorted((a, b) => a.at - b.at);
  // A step may have several validations, each with other metrics.
  const values = await Promise.all(ofStep.map((record) => valuesOf(backend, trial, record)));
  const kept = values.filter((one) => one !== undefined);
  const metrics = Object.fromEntries(kept.flatMap((one) => Object.entries(one)));
  return {
    codeDigest: ofExperiment?.contextDigest ?? "",
    ...(ofTrial?.hyperparameters && { hyperparameters: ofTrial.hyperparameters }),
    ...(kept.length > 0 && { metrics }),
  };
}

async function declare(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  request: RequestOf<"declareCheckpoint">,
  context: RequestContext,
) {
  const run = writer(request.run, context);
  if (!isCheckpointId(request.checkpoint)) {
    throw new Problem(400, "invalid_request", "checkpoint must be a UUID in lower case");
  }
  const { checkpoint, stepsCompleted: step, format, metadata, storageId, lastValidation } = request;
  const isPersons = request.run === "";
  if (isPersons) await refuseStorage(backend, checkpointStorage, context);
  const planned = await backend.command(
    "registry",
    "DeclareCheckpoint",
    {
      ...run,
      checkpoint,
      step,
      format: format || (run.task === undefined ? "" : saveFormat),
      ...(metadata === undefined ? {} : { metadata }),
      ...(storageId === undefined ? {} : { storageId }),
      ...(lastValidation === undefined ? {} : { lastValidation }),
      ...(isPersons && { storage: checkpointStorage }),
    },
    context,
  );
  return { checkpoint: planned.checkpoint, path: planned.path, store: planned.store };
}

async function planUpload(
  backend: Backend,
  { run: ownId, checkpoint, files }: RequestOf<"planUpload">,
  context: RequestContext,
) {
  const message = { ...writer(ownId, context), checkpoint, files };
  return backend.command("registry", "PlanUpload", message, context);
}

async function planTensorBoard(
  backend: Backend,
  { run: ownId, files, beginnings }: RequestOf<"planTensorBoard">,
  context: RequestContext,
) {
  const { trial, run } = ownRun(ownId, context);
  const message = { trial, run, files, beginnings };
  return backend.command("registry", "PlanTensorBoard", message, context);
}

function planFiles(backend: Backend, request: RequestOf<"planFiles">, context: RequestContext) {
  return backend.command("registry", "PlanFiles", request, context);
}

async function complete(
  backend: Backend,
  request: RequestOf<"completeCheckpoint">,
  context: RequestContext,
) {
  const { checkpoint, manifest } = request;
  const accepted = await backend.command(
    "registry",
    "CompleteCheckpoint",
    { ...writer(request.run, context), checkpoint, manifest },
    context,
  );
  return { position: String(accepted.position) };
}

async function fail(
  backend: Backend,
  { run: ownId, checkpoint, reason }: RequestOf<"failCheckpoint">,
  context: RequestContext,
) {
  const message = { ...ownRun(ownId, context), checkpoint, reason };
  const { position } = await backend.command("registry", "FailCheckpoint", message, context);
  return { position: String(position) };
}

function readAhead(
  backend: Backend,
  { run: ownId, checkpoint, paths }: RequestOf<"readCheckpointAhead">,
  context: RequestContext,
) {
  const message = { ...ownRun(ownId, context), checkpoint, paths };
  return backend.command("registry", "ReadAhead", message, context);
}

function reportDamage(
  backend: Backend,
  { run: ownId, checkpoint, detail }: RequestOf<"reportDamagedCheckpoint">,
  context: RequestContext,
) {
  const { trial, run } = ownRun(ownId, context);
  const message = { trial, run, checkpoint, detail };
  return backend.command("registry", "ReportDamage", message, context);
}

/** The format of the saves of tasks. A writer of a later one names it. */
const saveFormat = "trainyard-work/1";

/** The run of a trial or a task that stores a checkpoint; trial "" and no task for a person, who uploads a folder. */
type Writer = { readonly trial: string; readonly run: number; readonly task?: string };

function writer(run: string, context: RequestContext): Writer {
  if (run !== "") return ownRun(run, context);
  if (context.caller.kind === "user") return { trial: "", run: 0 };
  throw onlyOfRun();
}

const onlyOfRun = () =>
  new Problem(
    403,
    "not_for_runs",
    "a run's token stores checkpoints of its run only; a user uploads a folder",
  );

/** Returns the context of an upload: the run of a task uploads a folder as a user. */
async function uploading(run: string, context: RequestContext): Promise<RequestContext> {
  const { caller } = context;
  if (run !== "" || caller.kind === "user" || caller.task === null) return context;
  return { ...context, caller: await asUser(caller, onlyOfRun()) };
}

function ownRun(run: string, context: RequestContext): Writer {
  requireOwnRun(context.caller, run);
  if (context.caller.kind !== "run") {
    throw new Problem(
      403,
      "not_a_run",
      "only a run declares, completes and reports its checkpoints, with its own token",
    );
  }
  const ofTask = parseTaskRunId(run);
  if (ofTask !== null) return { trial: "", run: ofTask.run, task: ofTask.task };
  const ofTrial = parseRunId(run);
  if (ofTrial === null) throw notFound("run", run);
  return { trial: ofTrial.trial, run: ofTrial.run };
}

function plan(backend: Backend, checkpoint: string, context: RequestContext) {
  return backend.command("registry", "PlanCheckpointDownload", { checkpoint }, context);
}

/** Streams the files of the manifest, and no others, from the folder that the registry returned. */
async function download(
  backend: Backend,
  { checkpoint, globs }: RequestOf<"downloadCheckpoint">,
  context: RequestContext,
) {
  await requireReadsFiles(backend, checkpoint, context);
  const planned = await plan(backend, checkpoint, context);
  const manifest = matching(planned.manifest, globs);
  const { path, store, storageId } = planned;
  if (store !== "") return downloadObjects(backend, checkpoint, manifest, context);
  const { disk, logger } = backend.parts;
  const [root, folder] = [dirname(path), basename(path)];
  await requireStorage(disk, root, storageId);
  await requireSizes(disk, root, folder, manifest);
  const files = manifest.map((file) => ({
    ...file,
    open: () => disk.read(root, folder, file.path),
  }));
  const body = archiveOf(files, (error) =>
    logger.warn({ err: error, checkpoint }, "download_broke_off"),
  );
  return { contentType: "application/gzip", fileName: `${checkpoint}.tar.gz`, body };
}

/** Throws 503 if this host does not see the checkpoint's storage: a missing file would prove nothing then. */
async function requireStorage(
  disk: StorageDisk,
  root: string,
  storageId: string | undefined,
): Promise<void> {
  const seen = await disk.seen(root);
  const problem = storageId === undefined ? null : problemOfStorage(root, storageId, seen);
  if (problem !== null) throw unavailable(problem);
}

/** Throws 409 if a file is missing or has another size than in the manifest. */
async function requireSizes(
  disk: StorageDisk,
  root: string,
  folder: string,
  manifest: readonly { readonly path: string; readonly bytes: number }[],
): Promise<void> {
  const sizes = manifest.map(({ path, bytes }) => ({ path, bytes }));
  const compared = await disk.compare(root, folder, sizes);
  const damaged = (what: string): Problem =>
    new Problem(409, "checkpoint_damaged", `the checkpoint's ${what}`);
  if (compared.kind === "absent") throw damaged("folder is not there");
  if (compared.kind === "unreadable") throw damaged(`files cannot be read: ${compared.detail}`);
  const [difference] = compared.differences;
  if (difference !== undefined) throw damaged(`file ${difference.path} ${difference.detail}`);
}

function matching<File extends { readonly path: string }>(
  files: readonly File[],
  globs: readonly string[],
): readonly File[] {
  if (globs.length === 0) return files;
  const problem = globs.map(problemOfGlob).find((one) => one !== null);
  if (problem !== undefined) throw new Problem(400, "invalid_request", problem);
  const matches = globMatcher(globs);
  const found = files.filter(({ path }) => matches(path));
  if (found.length > 0) return found;
  throw new Problem(404, "not_found", `no file of the checkpoint matches ${globs.join(" or ")}`);
}
