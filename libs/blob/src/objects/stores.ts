/** The object stores that checkpoints go to, each opened once. Only the platform has their credentials. */
import { type Clock, Fault } from "@trainyard/kernel";
import { type CheckpointStorageSection, storeAddress } from "../checkpoint-folder.ts";
import { markStore } from "./checkpoint-objects.ts";
import { readCredentialsFile } from "./credentials.ts";
import { openObjectStore, type StorePatience } from "./open-object-store.ts";
import type { ObjectStore } from "./port.ts";
import type { S3Encryption } from "./s3/options.ts";

export type StoresSettings = {
  readonly clock: Clock;
  /** A file of credentials (see `readCredentialsFile`); without one the client looks where its vendor's tools do. */
  readonly credentialsFile?: string | undefined;
  readonly region?: string | undefined;
  /** How S3 encrypts what is stored; without it, as the bucket says. */
  readonly s3Encryption?: S3Encryption | undefined;
  /** The key of Cloud KMS that encrypts what is stored in Google Cloud Storage; without it, as the bucket says. */
  readonly gcsKmsKey?: string | undefined;
  /** The endpoint of Google Cloud Storage, where it is not Google's. */
  readonly gcsEndpoint?: string | undefined;
  /**
   * Addresses of stores other than Amazon's that a configuration may name. The platform sends requests there, signed
   * with its credentials, from inside its network: no user chooses where.
   */
  readonly endpoints?: readonly string[];
  /** How long a service waits for a store before it takes it to be away. */
  readonly patience?: StorePatience;
};

export class Stores implements AsyncDisposable {
  readonly #settings: StoresSettings;
  readonly #opened = new Map<string, Promise<ObjectStore | null>>();
  /** The ids of markers that were made or seen by this process, or are being asked for. */
  readonly #ids = new Map<ObjectStore, Promise<string>>();

  constructor(settings: StoresSettings) {
    this.#settings = settings;
  }

  /** The store of a section of an experiment's configuration; null where that is a directory. */
  async of(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const address = storeAddress(storage);
    if (address === null) return null;
    return await (this.#opened.get(address) ?? this.#begin(address, storage));
  }

  /** The id in the store's marker, which is made where there is none. */
  async idOf(store: ObjectStore): Promise<string> {
    const known = this.#ids.get(store);
    if (known !== undefined) return known;
    const asked = markStore(store);
    this.#ids.set(store, asked);
    asked.catch(() => this.#ids.delete(store));
    return asked;
  }

  #begin(address: string, storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const opening = this.#open(storage);
    this.#opened.set(address, opening);
    // The file of credentials may be mended meanwhile.
    opening.catch(() => this.#opened.delete(address));
    return opening;
  }

  async #open(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const {
      clock,
      credentialsFile,
      region,
      s3Encryption,
      gcsKmsKey,
      gcsEndpoint,
      endpoints = [],
      patience,
    } = this.#settings;
    const { endpoint_url: endpoint } = storage;
    if (typeof endpoint === "string" && !endpoints.includes(endpoint)) {
      const detail = `the platform does not use the object store at ${endpoint}: its operator adds it to TRAINYARD_STORAGE_ENDPOINTS of the registry and checkpoint-gc`;
      throw new Fault("endpoint_not_allowed", detail, { retry: "never", fields: { endpoint } });
    }
    const credentials =
      credentialsFile === undefined ? undefined : await readCredentialsFile(credentialsFile);
    return openObjectStore(storage, {
      clock,
      ...(credentials && { credentials }),
      ...(region && { region }),
      ...(s3Encryption && { s3Encryption }),
      ...(gcsKmsKey && { gcsKmsKey }),
      ...(gcsEndpoint && { gcsEndpoint }),
      ...(patience && { patience }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values());
    for (const store of opened) {
      if (store.status === "fulfilled") await store.value?.[Symbol.asyncDispose]();
    }
  }
}
