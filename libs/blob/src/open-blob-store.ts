/** Opens the blobs of a service at the place that its settings name. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { BlobPlace, BlobStorePlace } from "./blob-place.ts";
import { openDirectoryBlobStore } from "./directory-store.ts";
import { BlobClaim } from "./objects/blob-claim.ts";
import { ObjectBlobs } from "./objects/object-blobs.ts";
import type { ObjectStore } from "./objects/port.ts";
import { probeObjectStore } from "./objects/probe.ts";
import type { StoreBrake } from "./objects/store-brake.ts";
import { Stores, type StoresSettings } from "./objects/stores.ts";
import type { BlobStore } from "./port.ts";
import type { OwnLog } from "./storage-claims.ts";

export type BlobsSettings = {
  readonly clock: Clock;
  /** The credentials and the operator's settings of the kinds of stores. */
  readonly stores: Omit<StoresSettings, "clock">;
  readonly brake: StoreBrake;
  /** Whether this service writes blobs, so that it needs the right to do so. */
  readonly writes: boolean;
  /** The log of the cluster that owns a bucket in which it writes. */
  readonly log?: OwnLog;
  /** Gets the place of the blobs at the start. */
  readonly logger: { readonly info: (fields: object, message: string) => void };
};

export type OpenedBlobs = AsyncDisposable & {
  readonly blobs: BlobStore;
  /** The object store, as a server that the service needs; none for a folder. */
  readonly peers: readonly BlobServer[];
};

export type BlobServer = {
  readonly name: string;
  readonly link: string;
  readonly everyMs: number;
  /** The first call that succeeds has probed each right that the service needs; later ones ask for one object. */
  readonly answers: (signal: AbortSignal) => Promise<void>;
};

/** A look is one request, so a store that is away is noticed soon. */
const lookEveryMs = 10_000;
/** The longest look, and the longest probe, which is about ten requests. */
const lookMsMax = 4_000;
const probeMsMax = 8_000;
/** Longer than a slow start of a download, and too short to be of use to others. */
const signedSeconds = 5 * 60;
/** A key at which nothing is stored. */
const absentKey = "contexts/none";

export async function openBlobStore(
  place: BlobPlace,
  settings: BlobsSettings,
): Promise<OpenedBlobs> {
  const { clock, logger } = settings;
  logger.info({ place: place.kind === "folder" ? place.path : place.address }, "blobs_opened");
  if (place.kind === "folder") {
    const blobs = await openDirectoryBlobStore(place.path, clock);
    return { blobs, peers: [], [Symbol.asyncDispose]: async () => {} };
  }
  const opened = openObjectBlobs(place, settings);
  const { answers } = opened;
  const name = `the storage of model code ${place.address}`;
  return { ...opened, peers: [{ name, link: "blobs", everyMs: lookEveryMs, answers }] };
}

export type OpenedObjectBlobs = AsyncDisposable & {
  readonly blobs: ObjectBlobs;
  readonly answers: BlobServer["answers"];
};

export function openObjectBlobs(
  { address, section, endpoint }: BlobStorePlace,
  { clock, stores, brake, writes, log }: Omit<BlobsSettings, "logger">,
): OpenedObjectBlobs {
  const endpoints = endpoint === null ? [] : [endpoint];
  const opened = new Stores({ clock, ...stores, endpoints, planSeconds: signedSeconds });
  const store = async (): Promise<ObjectStore> => {
    const found = await opened.of(section);
    if (found !== null) return found;
    throw new Fault("unknown_storage", `${address} is no object store`, { retry: "never" });
  };
  const claim = log === undefined ? undefined : new BlobClaim(log);
  let isProbed = false;
  return {
    blobs: new ObjectBlobs({ store, brake, claim }),
    async answers(signal) {
      const asked = await store();
      if (isProbed) await brake.ask(asked, () => asked.head(absentKey), { ms: lookMsMax, signal });
      else await brake.ask(asked, () => probe(asked, writes), { ms: probeMsMax, signal });
      isProbed = true;
      await brake.ask(asked, async () => claim?.check(asked), { ms: lookMsMax, signal });
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Throws a Fault that names each right that the credentials lack. */
async function probe(store: ObjectStore, writes: boolean): Promise<void> {
  if (!writes) {
    await store.head(absentKey);
    return;
  }
  const { problems } = await probeObjectStore(store);
  if (problems.length === 0) return;
  const detail = problems.map((problem) => problem.detail).join("; ");
  throw new Fault("storage_refused", detail, { retry: "never" });
}
