/**
 * Decides in which storage new checkpoints may be declared. A root or bucket that has checkpoints in the log keeps
 * their storage: another id there waits until a person has adopted it, because it may be an empty mount point, another
 * bucket, or a marker that somebody made. A storage of another log waits, too.
 */
import {
  adoptCommand,
  type CheckpointStorageSection,
  markStore,
  type ObjectStore,
  type SeenStorage,
  type StorageClaims,
  type StorageDisk,
  seenStore,
  type StoreBrake,
  storageRoot,
} from "@trainyard/blob";
import { assert, type Clock, Fault, isFault, type Rejection, reject } from "@trainyard/kernel";
import type { Executor } from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Placed } from "./placed.ts";
import { kindOfStorage } from "./storage-kind.ts";
import { adoptionAt } from "./storages.ts";

/** The code for a checkpoint that was written to another storage than those that have checkpoints at its root. */
const notKnownCode = "storage_not_known";

export type KnownStoragesDeps = {
  readonly executor: Executor;
  readonly placed: Pick<Placed, "idsAt">;
  readonly claims: StorageClaims;
  readonly disk: Pick<StorageDisk, "seen">;
  readonly brake: StoreBrake;
  readonly clock: Clock;
  readonly events: Pick<Telemetry, "storageRefused">;
};

/**
 * Returns why a checkpoint may not be declared in another storage than those at its root. It waits alone: a share that
 * is mounted again takes those that were written to it, and a person reads the reason. Throws a Fault like `admit` for
 * all else, which concerns every checkpoint.
 */
export async function refusalOfPlace(
  known: Pick<KnownStorages, "admit">,
  storage: CheckpointStorageSection,
  storageId = "",
): Promise<Rejection | null> {
  try {
    await known.admit(storage, storageId);
    return null;
  } catch (error) {
    if (!isFault(error) || error.code !== notKnownCode) throw error;
    return reject(notKnownCode, error.message);
  }
}

export class KnownStorages {
  readonly #deps: KnownStoragesDeps;
  /** The last look at a bucket, by root; concurrent callers share it. */
  readonly #looks = new Map<string, { readonly id: Promise<string>; readonly untilMs: number }>();
  /** Directories and ids that were admitted, each until a time. */
  readonly #admitted = new Map<string, number>();

  constructor(deps: KnownStoragesDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the id of the storage in an object store. A store without a marker gets one if the log has no checkpoint
   * there. Throws a Fault with retry "later" if new checkpoints have to wait.
   */
  async idOf(section: CheckpointStorageSection, store: ObjectStore): Promise<string> {
    const root = storageRoot(section);
    assert(root !== null, "an object store has an address");
    // Each caller counts for the brake, and all wait for one look.
    return this.#deps.brake.ask(store, () => this.#lastLook(root, store));
  }

  #lastLook(root: string, store: ObjectStore): Promise<string> {
    const nowMs = this.#deps.clock.monotonicMs();
    const last = this.#looks.get(root);
    if (last !== undefined && nowMs < last.untilMs) return last.id;
    const id = this.#look(root, store);
    this.#looks.set(root, { id, untilMs: nowMs + registryLimits.markerTrustedMs });
    id.catch(() => this.#looks.delete(root));
    return id;
  }

  async #look(root: string, store: ObjectStore): Promise<string> {
    const { claims } = this.#deps;
    let seen = await seenStore(store);
    if (seen.kind === "unmarked") {
      const known = await this.#knownAt(root);
      if (known.length > 0) throw this.#notKnown(root, "has lost its marker", known);
      seen = { kind: "marked", ...(await markStore(store, await claims.owner())) };
    }
    if (seen.kind !== "marked") {
      const detail = `the marker of ${root} is damaged: run ${adoptCommand(root)}`;
      throw this.#refused(root, "storage_not_marked", detail);
    }
    await this.#refuseAnothers(root, seen);
    await this.#refuseNew(root, seen.id);
    return seen.id;
  }

  /**
   * Throws a Fault with retry "later" if no checkpoint may be declared in the storage that the writing host saw at the
   * root of a directory; callers of commands use `refusalOfPlace`. An empty id is admitted: the host could not mark the
   * root.
   */
  async admit(section: CheckpointStorageSection, storageId: string): Promise<void> {
    const root = storageRoot(section);
    if (root === null || storageId === "") return;
    const nowMs = this.#deps.clock.monotonicMs();
    const key = `${storageId} ${root}`;
    if (nowMs < (this.#admitted.get(key) ?? 0)) return;
    const seen = await this.#seen(root);
    // This host may see another folder at the path than the writing host.
    if (seen?.kind === "marked" && seen.id === storageId) await this.#refuseAnothers(root, seen);
    await this.#refuseNew(root, storageId);
    // The id is the writer's word, so old entries must not collect.
    for (const [old, untilMs] of this.#admitted) if (untilMs <= nowMs) this.#admitted.delete(old);
    this.#admitted.set(key, nowMs + registryLimits.markerTrustedMs);
  }

  /**
   * Throws a Fault with retry "later" while no checkpoint of the section could be declared, as this host sees its
   * storage. A checkpoint that nobody can declare is not given up.
   */
  async requireOpen(section: CheckpointStorageSection, store: ObjectStore | null): Promise<void> {
    if (store !== null) {
      await this.idOf(section, store);
      return;
    }
    const root = storageRoot(section);
    if (root === null) return;
    const seen = await this.#seen(root);
    if (seen?.kind === "marked") return this.admit(section, seen.id);
    const known = await this.#knownAt(root);
    if (known.length > 0) {
      throw this.#notKnown(root, "has no readable marker on this host", known);
    }
  }

  /** Returns null if the disk does not answer: the completion needs it anyway. */
  async #seen(root: string): Promise<SeenStorage | null> {
    try {
      return await this.#deps.disk.seen(root);
    } catch (error) {
      if (!isFault(error)) throw error;
      return null;
    }
  }

  async #refuseAnothers(root: string, seen: SeenStorage): Promise<void> {
    const problem = await this.#deps.claims.anotherLog(root, seen);
    if (problem === null) return;
    throw this.#refused(root, "storage_of_another_log", `no checkpoint is stored: ${problem}`);
  }

  async #refuseNew(root: string, id: string): Promise<void> {
    const known = await this.#knownAt(root);
    if (known.length === 0 || known.includes(id)) return;
    const adoption = await adoptionAt(this.#deps.executor, root);
    if (adoption.id === id || adoption.replaced.includes(id)) return;
    throw this.#notKnown(root, `is storage ${id} here`, known);
  }

  #knownAt(root: string): Promise<readonly string[]> {
    return this.#deps.placed.idsAt(root);
  }

  #notKnown(root: string, what: string, known: readonly string[]): Fault {
    const detail = `no checkpoint is stored: ${root} ${what}, and its checkpoints are in storage ${known.join(", ")}: mount that storage, or run ${adoptCommand(root)}`;
    return this.#refused(root, notKnownCode, detail);
  }

  /** The brake counts what a storage refuses, and this what is refused because of the storage that is there. */
  #refused(root: string, code: string, detail: string): Fault {
    const fault = new Fault(code, detail, { retry: "later", fields: { root } });
    this.#deps.events.storageRefused(fault, kindOfStorage(root));
    return fault;
  }
}
