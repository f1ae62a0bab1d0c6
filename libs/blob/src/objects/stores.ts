/** The object stores that checkpoints go to, each opened once. Only the platform has their credentials. */
import { type CheckpointStorageSection, storeAddress } from "../checkpoint-folder.ts";
import { markStore } from "./checkpoint-objects.ts";
import type { ObjectStore } from "./port.ts";

export type OpenStore = (storage: CheckpointStorageSection) => ObjectStore;

export class Stores implements AsyncDisposable {
  readonly #open: OpenStore;
  readonly #opened = new Map<string, ObjectStore>();
  /** The ids of markers that were made or seen by this process. */
  readonly #ids = new Map<string, string>();

  constructor(open: OpenStore) {
    this.#open = open;
  }

  /** The store of a section of an experiment's configuration; null where that is a directory. */
  of(storage: CheckpointStorageSection): ObjectStore | null {
    const address = storeAddress(storage);
    if (address === null) return null;
    const opened = this.#opened.get(address) ?? this.#open(storage);
    this.#opened.set(address, opened);
    return opened;
  }

  /** The id in the store's marker, which is made where there is none. */
  async idOf(store: ObjectStore): Promise<string> {
    const known = this.#ids.get(store.address);
    if (known !== undefined) return known;
    const id = await markStore(store);
    this.#ids.set(store.address, id);
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#opened.values()) await store[Symbol.asyncDispose]();
  }
}
