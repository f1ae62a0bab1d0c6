import { join } from "node:path";
import {
  BrakedDisk,
  openBlobStore,
  ProcessDisk,
  StorageClaims,
  type StorageDisk,
  StoreBrake,
  Stores,
} from "@trainyard/blob";
import {
  DeletionHold,
  EffectLoop,
  type ListeningService,
  LogIdentity,
  openParts,
  openTables,
  Partition,
  serviceOf,
  type TableOverrides,
  type Term,
  type TermContext,
  WorkerCall,
} from "@trainyard/runtime";
import type { RegistryConfig } from "./config.ts";
import type { Manifest } from "./core/manifest.ts";
import { registryLimits } from "./limits.ts";
import { createTelemetry } from "./telemetry.ts";
import { openCheckpointGauges } from "./open-checkpoints.ts";
import { commandTable } from "./shell/commands.ts";
import { startHttpServer } from "./shell/http.ts";
import { type Inspection, inspectFiles } from "./shell/inspect-files.ts";
import { Inspector } from "./shell/inspect.ts";
import { KnownStorages } from "./shell/known-storages.ts";
import { ManifestTable } from "./shell/manifest-table.ts";
import { Placed } from "./shell/placed.ts";
import { ReadAheads } from "./shell/read-ahead.ts";
import { Renewals } from "./shell/renewals.ts";
import { UploadProgress } from "./shell/upload-progress.ts";
import { Unchanged } from "./shell/unchanged.ts";
import { Unfinished } from "./shell/unfinished.ts";
import { Verifier } from "./shell/verifier.ts";
import type { InspectQuestion } from "./shell/inspect-worker.ts";
import { bucketOf, type Place, verify } from "./shell/verify.ts";
import { type FolderPlace, placeOf, type Verdict, verifyFiles } from "./shell/verify-files.ts";

const inspectWorker = new URL("./shell/inspect-worker.ts", import.meta.url);
const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: RegistryConfig,
  overrides: TableOverrides & { readonly disk?: StorageDisk } = {},
): Promise<ListeningService> {
  const parts = await openParts("registry", config, overrides);
  const { name, stack, log, clock, logger, registry } = parts;
  const { http, checkpointDir, urlKey, abandonedGraceMs: graceMs } = config;
  const pool = openTables(parts, config, overrides);
  const events = createTelemetry(registry, logger);
  openCheckpointGauges(registry, pool, clock);
  const stores = stack.use(new Stores({ clock, ...config.stores }));
  const brake = new StoreBrake({
    clock,
    ...registryLimits.storeBrake,
    onFault: (fault, kind) => events.storageRefused(fault, kind),
  });
  const { seenMs, diskWorkMs: workMs, readAheadBytesMax } = registryLimits;
  const openDisk = (): BrakedDisk => {
    const calling = overrides.disk ?? stack.use(new ProcessDisk(clock));
    return new BrakedDisk({ disk: calling, brake, clock, seenMs, workMs });
  };
  const disk = openDisk();
  // A person's inspection does not share a process with completions.
  const inspected = openDisk();
  const readAheads = new ReadAheads((folder, paths) =>
    disk.digests(...placeOf({ folder }), paths, readAheadBytesMax),
  );
  const hash = async (place: FolderPlace, manifest: Manifest): Promise<Verdict> =>
    verifyFiles(disk, place, manifest, await readAheads.take(place.folder));
  const reading = stack.use(
    new WorkerCall<InspectQuestion, Inspection>(inspectWorker, "reads checkpoints again"),
  );
  const readAgain = (place: Place, manifest: Manifest, extras: boolean) => {
    if ("folder" in place) return inspectFiles(inspected, place, manifest);
    return reading.ask({ place: bucketOf(place), manifest, extras, stores: config.stores });
  };
  const look = (place: Place, manifest: Manifest) => verify(place, manifest, { hash, readAgain });
  const verifier = new Verifier(look, clock, events);
  const inspector = new Inspector((place, manifest) => readAgain(place, manifest, true), clock);
  const unchanged = new Unchanged();
  const uploads = new UploadProgress(clock);
  const manifests = new ManifestTable(pool);
  const opening = { clock, logger, stores: config.stores, brake, writes: false };
  const { blobs, peers } = stack.use(await openBlobStore(config.blobs, opening));
  const publicUrl = (): string => config.publicUrl ?? service.address();
  const hold = new DeletionHold(parts);
  const shared = { log, clock, events, checkpointDir, stores, brake, disk, hold };
  const begin = async ({ executor }: TermContext): Promise<Term> => {
    const claims = new StorageClaims(new LogIdentity(log));
    const forgetting = new EffectLoop("manifests", { clock, logger }, async () =>
      (await manifests.forgetGone()) ? 0 : null,
    );
    const placed = new Placed({ log, pool, clock, logger }, () => forgetting.wake());
    const known = new KnownStorages({ executor, placed, claims, disk, brake, clock, events });
    const renewals = new Renewals({ claims, disk, brake, clock, logger, events });
    const settings = { ...shared, claims, known, executor, manifests, pool, logger, graceMs };
    const unfinished = new Unfinished(settings);
    const decided = {
      executor,
      unfinished,
      manifests,
      verifier,
      readAheads,
      inspector,
      placed,
      claims,
      known,
      renewals,
      blobs,
      unchanged,
      uploads,
    };
    return {
      reactions: { handlers: {} },
      commands: commandTable({ ...shared, ...decided, urlKey, publicUrl }),
      views: [unfinished.view, placed.view],
      loops: [unfinished.loop, renewals.loop, forgetting],
    };
  };
  const service = serviceOf(parts, {
    http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, begin),
    peers,
    listen: (health) => startHttpServer({ blobs, clock, urlKey, events, registry, health }, http),
  });
  return service;
}
