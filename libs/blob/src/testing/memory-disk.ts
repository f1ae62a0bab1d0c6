/** Hosts and storages in memory, for tests. */
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { markerText, readMarkerText, type SeenStorage, type StorageMark } from "../marker-text.ts";
import type { Removed } from "../remove-below.ts";
import type { StorageDisk } from "../storage-disk.ts";
import { problemOfStorage } from "../storage-marker.ts";

/** The content of a storage's root, which several hosts may mount. */
export class MemoryStorage {
  /** The content of the marker; null if the storage has no marker. */
  marker: string | null = null;
  readonly folders = new Set<string>();
}

/** A host in memory. A root where nothing is mounted is an empty folder, like a mount point without its mount. */
export class MemoryDisk implements StorageDisk {
  readonly #mounts = new Map<string, MemoryStorage>();

  mount(root: string, storage: MemoryStorage): void {
    this.#mounts.set(root, storage);
  }

  at(root: string): MemoryStorage {
    const mounted = this.#mounts.get(root) ?? new MemoryStorage();
    this.#mounts.set(root, mounted);
    return mounted;
  }

  async seen(root: string): Promise<SeenStorage> {
    const { marker } = this.at(root);
    return marker === null ? { kind: "unmarked" } : readMarkerText(marker);
  }

  async mark(root: string, id: string): Promise<string> {
    const storage = this.at(root);
    storage.marker ??= markerText({ id });
    const seen = readMarkerText(storage.marker);
    if (seen.kind === "marked") return seen.id;
    throw new Fault("storage_not_marked", `the marker of ${root} is damaged`, { retry: "later" });
  }

  async renew(root: string, mark: StorageMark): Promise<void> {
    const problem = problemOfStorage(root, mark.id, await this.seen(root));
    if (problem !== null) throw new Fault("storage_not_marked", problem, { retry: "later" });
    this.at(root).marker = markerText(mark);
  }

  async removeFolder(root: string, below: string): Promise<void> {
    this.at(root).folders.delete(join(root, below));
  }

  /** Folders in memory have no files. */
  async removeFiles(): Promise<Removed> {
    return { files: 0, bytes: 0 };
  }
}
