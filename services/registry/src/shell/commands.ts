/** The commands of the registry: checkpoints of runs, sent by the gateway, and model code for agents. */
import type { BlobStore, StorageClaims, StorageDisk, StoreBrake, Stores } from "@trainyard/blob";
import { type Clock, reject, streamName } from "@trainyard/kernel";
import {
  type Content,
  contentId,
  contentKey,
  contents,
  type CommandTable,
} from "@trainyard/runtime";
import { auditStorage } from "./audit.ts";
import { completeCheckpoint } from "./complete.ts";
import { declareCheckpoint } from "./declare.ts";
import { failCheckpoint } from "./fail.ts";
import { planDownload } from "./download.ts";
import { getDeletionHold, type HoldDeps, recordRewind, releaseDeletions } from "./hold.ts";
import { type Inspector, verifyCheckpoint } from "./inspect.ts";
import type { KnownStorages } from "./known-storages.ts";
import type { ManifestTable } from "./manifest-table.ts";
import { type ModelDeps, modelCommands } from "./models.ts";
import { pinCheckpoint, unpinCheckpoint } from "./pins.ts";
import type { Placed } from "./placed.ts";
import { planFiles } from "./download-files.ts";
import type { Unchanged } from "./unchanged.ts";
import type { UploadProgress } from "./upload-progress.ts";
import { planUpload } from "./upload.ts";
import { type ReadAheads, readAhead } from "./read-ahead.ts";
import type { Renewals } from "./renewals.ts";
import { probeStorage } from "./probe.ts";
import { reportDamage } from "./report-damage.ts";
import { isContextDigest, signedContextPath } from "./signed-urls.ts";
import { adoptStorage, listStorages } from "./storages.ts";
import { planTensorBoard } from "./tensorboard.ts";
import { planTensorBoardDownload } from "./tensorboard-download.ts";
import type { Verifier } from "./verifier.ts";
import { withStoreRejections } from "./store-faults.ts";

export type CommandDeps = ModelDeps &
  HoldDeps & {
    readonly manifests: Pick<ManifestTable, "put" | "get">;
    readonly verifier: Verifier;
    readonly readAheads: Pick<ReadAheads, "begin">;
    readonly inspector: Inspector;
    readonly stores: Pick<Stores, "of">;
    readonly claims: StorageClaims;
    readonly known: Pick<KnownStorages, "admit" | "idOf">;
    readonly renewals: Pick<Renewals, "completed">;
    readonly brake: StoreBrake;
    /** The directories of checkpoints, behind the brake. */
    readonly disk: StorageDisk;
    readonly placed: Pick<Placed, "anyAt" | "groups" | "roots" | "statesAt">;
    readonly unchanged: Unchanged;
    readonly uploads: UploadProgress;
    readonly blobs: BlobStore;
    readonly clock: Clock;
    /** The folder for checkpoints of experiments without a storage, and the base of relative paths. */
    readonly checkpointDir: string;
    readonly urlKey: Buffer;
    /** The address of the HTTP server, at which agents read blobs of a folder. */
    readonly publicUrl: () => string;
  };

export function commandTable(deps: CommandDeps): CommandTable<"registry"> {
  return {
    ...modelCommands(deps),
    DeclareCheckpoint: (request, context) =>
      withStoreRejections(() => declareCheckpoint(deps, request, context)),
    CompleteCheckpoint: (request, context) =>
      withStoreRejections(() => completeCheckpoint(deps, request, context)),
    ReadAhead: (request) => readAhead(deps, request),
    FailCheckpoint: (request, context) => failCheckpoint(deps, request, context),
    ReportDamage: (request, context) =>
      withStoreRejections(() => reportDamage(deps, request, context)),
    PlanCheckpointDownload: (request) =>
      withStoreRejections(() => planDownload(deps, request.checkpoint)),
    PinCheckpoint: (request, context) => pinCheckpoint(deps, request, context),
    UnpinCheckpoint: (request, context) => unpinCheckpoint(deps, request, context),
    VerifyCheckpoint: (request, context) =>
      withStoreRejections(() => verifyCheckpoint(deps, request.checkpoint, context)),
    AuditStorage: (request, context) => auditStorage(deps, request, context),
    ProbeStorage: (request) => probeStorage(deps, request),
    PlanUpload: (request, context) => withStoreRejections(() => planUpload(deps, request, context)),
    PlanFiles: (request) => withStoreRejections(() => planFiles(deps, request)),
    PlanTensorBoard: (request) => withStoreRejections(() => planTensorBoard(deps, request)),
    PlanTensorBoardDownload: (request) =>
      withStoreRejections(() => planTensorBoardDownload(deps, request)),
    PlanContextDownload: (request) => withStoreRejections(() => planContext(deps, request.digest)),
    ListStorages: () => listStorages(deps),
    AdoptStorage: (request, context) => adoptStorage(deps, request, context),
    RecordRewind: (request, context) => recordRewind(deps, request, context),
    ReleaseDeletions: (request, context) => releaseDeletions(deps, request, context),
    GetDeletionHold: (request) => getDeletionHold(deps, request),
  };
}

async function planContext(deps: CommandDeps, digest: string) {
  const unknown = reject("context_not_found", `there is no model code ${digest}`);
  if (!isContextDigest(digest)) return unknown;
  const content: Content = { folder: "contexts", digest };
  const { cache } = deps.executor;
  // The cached state of another service's stream may be stale.
  cache.forget(streamName(contents.category, contentId(content)));
  const { deletions } = (await cache.load(contents, contentId(content))).state;
  const key = contentKey({ ...content, deletions });
  if ((await deps.blobs.stat(key)) === null) return unknown;
  const ownUrl = (): string =>
    `${deps.publicUrl()}${signedContextPath(deps.urlKey, key, deps.clock.nowMs())}`;
  return { digest, url: (await deps.blobs.signedUrl(key)) ?? ownUrl() };
}
