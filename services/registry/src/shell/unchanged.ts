/**
 * Finds files of a new checkpoint that the last complete checkpoint of the same trial or task already has, by size and
 * SHA-256, and copies them inside the object store. Each checkpoint therefore stays complete by itself. A slow copy
 * continues while its uploader is asked to retry, and the retry joins it. A copy counts only after its checksum in the
 * store was compared, like an upload's.
 */
import { checkpointKey, type CopyResult, type ObjectStore } from "@trainyard/blob";
import { isFault, isRejection } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { completeCheckpointOf } from "./download.ts";
import { type Maker, makerOf } from "../core/maker.ts";
import { runsOf } from "../streams.ts";

type Content = { readonly bytes: number; readonly sha256: string };

/** Returns the key of an object with this content, or null. */
export type Source = (file: Content) => string | null;

const none: Source = () => null;

type Deps = Pick<CommandDeps, "executor" | "manifests" | "stores">;

export type Copied = CopyResult & { readonly kind: "copied" };

export class Unchanged {
  /** The files by their manifest's digest: an uploader asks for its files page by page. */
  readonly #indexes = new Map<string, ReadonlyMap<string, string>>();
  readonly #running = new Map<string, Promise<CopyResult>>();

  /** Returns the files of the last complete checkpoint of the trial or the task, if that is in the same storage. */
  async sourceOf(
    deps: Deps,
    maker: Pick<Maker, "trial" | "task">,
    store: ObjectStore,
    storageId: string,
  ): Promise<Source> {
    // An uploaded folder has no earlier checkpoint.
    if (makerOf(maker) === "") return none;
    const { fold, id } = runsOf(maker);
    const { latest } = (await deps.executor.cache.load(fold, id)).state;
    if (latest === "") return none;
    const complete = await completeCheckpointOf(deps, latest);
    if (isRejection(complete)) return none;
    const { state, declared, isGone } = complete;
    if (declared.storageId !== storageId) return none;
    const theirs = await deps.stores.of(declared.storage ?? {});
    if (theirs?.address !== store.address) return none;
    const index = await this.#indexOf(deps, latest, state.manifestDigest);
    return (file) => {
      const path = index.get(contentOf(file));
      return path === undefined || isGone(path) ? null : checkpointKey(latest, path);
    };
  }

  async #indexOf(
    { manifests }: Deps,
    checkpoint: string,
    digest: string,
  ): Promise<ReadonlyMap<string, string>> {
    const known = this.#indexes.get(digest);
    if (known !== undefined) return known;
    const index = indexOf(await manifests.get(checkpoint, digest));
    this.#indexes.set(digest, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > registryLimits.manifestsIndexedMax && oldest !== undefined) {
      this.#indexes.delete(oldest);
    }
    return index;
  }

  /** Copies inside the store, or joins a running copy. Returns null if the file has to be sent. */
  async copy(store: ObjectStore, from: string, to: string, bytes: number): Promise<Copied | null> {
    const name = `${store.address} ${to}`;
    const running = this.#running.get(name) ?? this.#begin(name, store, from, to, bytes);
    try {
      const result = await running;
      return result.kind === "copied" ? result : null;
    } catch (error) {
      if (isFault(error)) return null;
      throw error;
    }
  }

  #begin(
    name: string,
    store: ObjectStore,
    from: string,
    to: string,
    bytes: number,
  ): Promise<CopyResult> {
    const copying = store.copy(from, to, bytes);
    this.#running.set(name, copying);
    const over = (): void => void this.#running.delete(name);
    copying.then(over, over);
    return copying;
  }
}

function indexOf(manifest: Manifest): ReadonlyMap<string, string> {
  return new Map(
    manifest.filter(({ bytes }) => bytes > 0).map((file) => [contentOf(file), file.path]),
  );
}

function contentOf({ bytes, sha256 }: Content): string {
  return `${bytes} ${sha256}`;
}
