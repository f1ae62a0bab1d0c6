/** Hosts that see a real folder at the path of a storage: the shared one, an empty one, or another storage. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { directoryDisk, markStorage, type StorageDisk } from "@trainyard/blob";

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

export class Host {
  readonly #folder: string;
  readonly #name: string;
  readonly #pending: Pending;
  view: View = "share";
  readonly disk = this.#opened();
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

  async #seen(): ReturnType<StorageDisk["seen"]> {
    this.looked.add(this.root);
    const seen = await this.#pending.during(directoryDisk.seen(this.root));
    this.view = this.afterLook ?? this.view;
    this.afterLook = null;
    return seen;
  }

  /** Returns a disk whose calls go to the folder that the host sees at that moment. */
  #opened(): StorageDisk {
    const calls = Object.entries(directoryDisk).map(([name, call]) => {
      const there = call as (root: string, ...args: readonly unknown[]) => Promise<unknown>;
      const here = (_root: string, ...args: readonly unknown[]) =>
        this.#pending.during(there(this.root, ...args));
      return [name, here] as const;
    });
    return { ...(Object.fromEntries(calls) as unknown as StorageDisk), seen: () => this.#seen() };
  }
}
