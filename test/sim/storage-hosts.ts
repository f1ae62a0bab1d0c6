/** Hosts that see a real folder at the path of a storage: the shared one, an empty one, or another storage. */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { directoryDisk, markStorage, type StorageDisk } from "@trainyard/blob";
import {
  type FolderPlace,
  type Verdict,
  verifyFiles,
} from "@trainyard/service-registry/verify-files";

export type View = "share" | "empty" | "another";
export const views: readonly [View, ...View[]] = ["share", "empty", "another"];

/** Running calls to the file system, which virtual time has to wait for explicitly. */
export class Pending {
  count = 0;

  async during<Result>(call: Promise<Result>): Promise<Result> {
    this.count += 1;
    try {
      return await call;
    } finally {
      this.count -= 1;
    }
  }
}

export class Host implements StorageDisk {
  readonly #folder: string;
  readonly #name: string;
  readonly #pending: Pending;
  view: View = "share";
  /** The folders that were read since the last check. */
  readonly looked = new Set<string>();
  /** The view after the host's next read; null for no change. */
  afterLook: View | null = null;

  private constructor(folder: string, name: string, pending: Pending) {
    this.#folder = folder;
    this.#name = name;
    this.#pending = pending;
  }

  /** All views are below `folder`: the hosts share one folder, and each has others of its own. */
  static async open(folder: string, name: string, pending: Pending): Promise<Host> {
    const host = new Host(folder, name, pending);
    for (const view of views) await mkdir(host.#at(view), { recursive: true });
    await markStorage(host.#at("another"));
    return host;
  }

  #at(view: View): string {
    return join(this.#folder, view === "share" ? view : `${view}-${this.#name}`);
  }

  /** The folder that the host sees as the storage's root. */
  get root(): string {
    return this.#at(this.view);
  }

  async seen(): ReturnType<StorageDisk["seen"]> {
    this.looked.add(this.root);
    const seen = await this.#pending.during(directoryDisk.seen(this.root));
    this.view = this.afterLook ?? this.view;
    this.afterLook = null;
    return seen;
  }

  mark(_root: string, id: string): Promise<string> {
    return this.#pending.during(directoryDisk.mark(this.root, id));
  }

  renew(_root: string, mark: Parameters<StorageDisk["renew"]>[1]): Promise<void> {
    return this.#pending.during(directoryDisk.renew(this.root, mark));
  }

  removeFiles(
    _root: string,
    below: string,
    matches: Parameters<StorageDisk["removeFiles"]>[2],
  ): ReturnType<StorageDisk["removeFiles"]> {
    return this.#pending.during(directoryDisk.removeFiles(this.root, below, matches));
  }

  removeFolder(_root: string, below: string): Promise<void> {
    return this.#pending.during(directoryDisk.removeFolder(this.root, below));
  }

  verify(
    { folder, storageId }: FolderPlace,
    manifest: Parameters<typeof verifyFiles>[1],
  ): Promise<Verdict> {
    const here = { folder: join(this.root, basename(folder)), storageId };
    return this.#pending.during(verifyFiles(here, manifest));
  }
}
