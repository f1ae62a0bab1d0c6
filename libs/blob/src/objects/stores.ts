/** The object stores of checkpoints, each opened once. Only the platform has their credentials. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { CheckpointStorageSection, StorePatience } from "../storage-kind.ts";
import { objectStoreKind, type StoreSettings } from "../storage-kinds.ts";
import { storeAddress } from "../store-address.ts";
import { readCredentialsFile } from "./credentials.ts";
import { openObjectStore } from "./open-object-store.ts";
import type { ObjectStore } from "./port.ts";

export type StoresSettings = {
  readonly clock: Clock;
  /**
   * The credentials file (see `readCredentialsFile`); by default each client searches the places of its vendor's tools.
   */
  readonly credentialsFile?: string | undefined;
  /** The operator's settings of each kind, which `storeSettings` reads. */
  readonly kinds?: StoreSettings;
  /**
   * The addresses of stores other than Amazon's that an experiment's configuration may name. The platform sends signed
   * requests there from inside its network, so users must not choose the address.
   */
  readonly endpoints?: readonly string[];
  /** The timeout and attempts after which a store counts as unavailable. */
  readonly patience?: StorePatience;
};

export class Stores implements AsyncDisposable {
  readonly #settings: StoresSettings;
  readonly #opened = new Map<string, Promise<ObjectStore | null>>();

  constructor(settings: StoresSettings) {
    this.#settings = settings;
  }

  /** Returns the store of a checkpoint_storage section; null if the section names a directory. */
  async of(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const address = storeAddress(storage);
    if (address === null) return null;
    return await (this.#opened.get(address) ?? this.#begin(address, storage));
  }

  #begin(address: string, storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const opening = this.#open(storage);
    this.#opened.set(address, opening);
    // A failed opening is not cached: the operator may repair the credentials file.
    opening.catch(() => this.#opened.delete(address));
    return opening;
  }

  async #open(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const { clock, credentialsFile, kinds, endpoints = [], patience } = this.#settings;
    const key = objectStoreKind(storage)?.[1].endpointKey ?? null;
    const endpoint = key === null ? undefined : storage[key];
    if (typeof endpoint === "string" && !endpoints.includes(endpoint)) {
      const detail = `the object store at ${endpoint} is not allowed: the operator can add it to TRAINYARD_STORAGE_ENDPOINTS of the registry and checkpoint-gc`;
      throw new Fault("endpoint_not_allowed", detail, { retry: "never", fields: { endpoint } });
    }
    const credentials =
      credentialsFile === undefined ? undefined : await readCredentialsFile(credentialsFile);
    return openObjectStore(storage, {
      clock,
      ...(credentials && { credentials }),
      ...(kinds && { kinds }),
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
