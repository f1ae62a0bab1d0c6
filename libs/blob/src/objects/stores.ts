/**
 * The object stores of checkpoints. Only the platform has their credentials. A store is opened once, and again when the
 * file of credentials has changed. At most `storesMax` are kept open, since a user may name any number of prefixes.
 */
import { stat } from "node:fs/promises";
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
  /** The validity of planned requests; default: the adapter's. */
  readonly planSeconds?: number;
};

/** The most open stores; the least recently used one is closed. */
export const storesMax = 64;
/** A store that was replaced is closed after this time: requests to it may still run. */
const retiredMs = 60 * 60 * 1_000;

type Opening = Promise<ObjectStore | null>;
/** `version` is of the file of credentials when the store was opened. */
type Opened = { readonly opening: Opening; readonly version: string };

export class Stores implements AsyncDisposable {
  readonly #settings: StoresSettings;
  /** By address, the least recently used first. */
  readonly #opened = new Map<string, Opened>();
  #retired: readonly { readonly opening: Opening; readonly atMs: number }[] = [];

  constructor(settings: StoresSettings) {
    this.#settings = settings;
  }

  /** Returns the store of a checkpoint_storage section; null if the section names a directory. */
  async of(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const address = storeAddress(storage);
    if (address === null) return null;
    const version = await this.#credentialsVersion();
    const known = this.#opened.get(address);
    if (known === undefined || known.version !== version) {
      return await this.#begin(address, storage, version);
    }
    this.#opened.delete(address);
    this.#opened.set(address, known);
    return await known.opening;
  }

  #begin(address: string, storage: CheckpointStorageSection, version: string): Opening {
    const opening = this.#open(storage);
    this.#retire(address);
    this.#opened.set(address, { opening, version });
    const [oldest] = this.#opened.keys();
    if (this.#opened.size > storesMax && oldest !== undefined) this.#retire(oldest);
    // A failed opening is not cached: the operator may repair the credentials file.
    opening.catch(() => {
      if (this.#opened.get(address)?.opening === opening) this.#opened.delete(address);
    });
    return opening;
  }

  /** Keeps the store of an address for the requests that use it, and closes those that were kept for long enough. */
  #retire(address: string): void {
    const nowMs = this.#settings.clock.monotonicMs();
    const opened = this.#opened.get(address);
    this.#opened.delete(address);
    const kept = opened === undefined ? [] : [{ opening: opened.opening, atMs: nowMs }];
    const isOver = ({ atMs }: { readonly atMs: number }): boolean => nowMs - atMs > retiredMs;
    for (const { opening } of this.#retired.filter(isOver)) void close(opening);
    this.#retired = [...this.#retired.filter((one) => !isOver(one)), ...kept];
  }

  /** A text that differs whenever the file of credentials has changed; empty without a file. */
  async #credentialsVersion(): Promise<string> {
    const { credentialsFile } = this.#settings;
    if (credentialsFile === undefined) return "";
    // A file that cannot be read gets its Fault when the store is opened.
    const found = await stat(credentialsFile, { bigint: true }).catch(() => null);
    return found === null ? "none" : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
  }

  async #open(storage: CheckpointStorageSection): Promise<ObjectStore | null> {
    const { clock, credentialsFile, kinds, endpoints = [], patience, planSeconds } = this.#settings;
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
      ...(planSeconds !== undefined && { planSeconds }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#opened.values(), ...this.#retired];
    await Promise.all(all.map(({ opening }) => close(opening)));
  }
}

/** A store that could not be opened has nothing to close. */
async function close(opening: Opening): Promise<void> {
  const store = await opening.catch(() => null);
  await store?.[Symbol.asyncDispose]();
}
