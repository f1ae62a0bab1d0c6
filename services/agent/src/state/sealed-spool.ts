/**
 * The SDK's remains of a run's checkpoints in `run/spool/checkpoints`, by the rules of its README ("The run's folder"):
 * a `.begun` for each incomplete folder, a `.json` for each checkpoint that is sealed and not settled. The records of
 * complete checkpoints are in `run/spool/stored`. The training process can write there, so files that are not the SDK's
 * records are skipped.
 */
import { lstatSync, opendirSync } from "node:fs";
import { basename } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoint, SealedCheckpoints } from "@trainyard/contracts/events";
import { isCheckpointId } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { makeRunFolder, readRunFile, removeRunFile, withinRun, writeRunFile } from "./run-file.ts";

/** The SDK's record of a checkpoint whose folder is complete. */
export type Sealed = {
  readonly checkpoint: string;
  readonly sealedMs: number;
  readonly stepsCompleted: number;
  readonly metadata: object;
  readonly manifest: readonly object[];
  /** The files that other hosts send to the same object store, with their digests. */
  readonly ofOthers?: readonly object[];
  /** True for a part of a checkpoint that the chief's host completes. */
  readonly isPart?: boolean;
  /** True if the manifest has the digests that an object store compares. */
  readonly isDigested?: boolean;
  /** The id of the storage that the process saw; absent if the storage could not be marked. */
  readonly storageId?: string;
  /** True once the platform had completed the checkpoint. */
  readonly isStored?: boolean;
  /** The key of the last validation that the run recorded before; absent for none. */
  readonly lastValidation?: string;
};

/** A complete checkpoint, and the time of its record, which the run may have set. */
export type Stored = { readonly checkpoint: string; readonly atMs: number };

/** `isAll` is false if the read stopped before the folder's end. */
type Names = { readonly names: readonly string[]; readonly isAll: boolean };

const place = "spool/checkpoints";
const storedPlace = "spool/stored";

export class SealedSpool {
  readonly #runDir: string;
  readonly #isOfTask: boolean;
  /** The checkpoint of each record, which never changes; null for a file that is not a record. */
  readonly #read = new Map<string, Plain<SealedCheckpoint> | null>();
  /** The sealed checkpoints at the last look, those with the most steps first. */
  #seen: readonly Plain<SealedCheckpoint>[] = [];
  /** The sealed checkpoints that the platform has given up. */
  readonly #abandoned = new Set<string>();
  /** The complete checkpoints that are being offered again, and count as sealed meanwhile. */
  readonly #offered = new Map<string, Plain<SealedCheckpoint>>();
  /** Whether the platform's last answer about the run was that its history is lost. */
  isLost = false;

  /** A run of a task that keeps nothing has no spool: a folder of that name is its own. */
  constructor(runDir: string, isOfTask = false) {
    this.#runDir = runDir;
    this.#isOfTask = isOfTask;
  }

  /** Returns the sealed checkpoints, the earliest first. */
  sealed(): readonly Sealed[] {
    const { names } = this.#names(".json");
    const records = names.flatMap((checkpoint) => this.#record(checkpoint) ?? []);
    return records.toSorted((a, b) => a.sealedMs - b.sealedMs);
  }

  /** Returns the sealed checkpoints that the platform has not given up, the earliest first. */
  deliverable(): readonly Sealed[] {
    return this.sealed().filter(({ checkpoint }) => !this.#abandoned.has(checkpoint));
  }

  /** Returns the complete checkpoints without reading their records, which may be large and many. */
  stored(): readonly Stored[] {
    if (this.#isOfTask) return [];
    const found = withinRun(this.#runDir, storedPlace, (path) =>
      this.#namesIn(path, ".json").names.flatMap((checkpoint): Stored | [] => {
        const status = lstatSync(`${path}/${checkpoint}.json`, { throwIfNoEntry: false });
        return status?.isFile() === true ? { checkpoint, atMs: status.mtimeMs } : [];
      }),
    );
    return found ?? [];
  }

  /** Keeps the record of a checkpoint that the platform has completed. */
  keep(sealed: Sealed): void {
    makeRunFolder(this.#runDir, "spool", "stored");
    writeRunFile(this.#runDir, `${storedPlace}/${sealed.checkpoint}.json`, JSON.stringify(sealed));
  }

  /**
   * Counts a complete checkpoint as sealed, since the platform's log lacks it, until it is settled. Its own record
   * stays. Null if there is no readable record.
   */
  offerAgain(checkpoint: string): Sealed | null {
    const record = this.#record(checkpoint, storedPlace);
    if (record === null) return null;
    const stored = { ...record, isStored: true };
    writeRunFile(this.#runDir, `${place}/${checkpoint}.json`, JSON.stringify(stored));
    this.#offered.set(checkpoint, toldOf(stored));
    return stored;
  }

  isOfferedAgain(checkpoint: string): boolean {
    return this.#offered.has(checkpoint);
  }

  /** Called once the platform has refused a checkpoint for good: it is not offered to a later log. */
  forgetStored(checkpoint: string): void {
    removeRunFile(this.#runDir, `${storedPlace}/${checkpoint}.json`);
  }

  /** The platform has given the checkpoint up: it stays, and is not under way to a storage. */
  abandon(checkpoint: string): void {
    this.#abandoned.add(checkpoint);
  }

  /** Returns the checkpoints with an incomplete folder; empty for a spool that was read in part. */
  begun(): readonly string[] {
    const { names, isAll } = this.#names(".begun");
    return isAll ? names.filter((checkpoint) => !this.#mayBeSealed(checkpoint)) : [];
  }

  /** Checks the file itself, since a list of names may be cut. A record that cannot be checked counts as sealed. */
  #mayBeSealed(checkpoint: string): boolean {
    try {
      const found = withinRun(this.#runDir, place, (path) =>
        lstatSync(`${path}/${checkpoint}.json`, { throwIfNoEntry: false }),
      );
      return found !== null && found !== undefined;
    } catch {
      return true;
    }
  }

  /** Called once the incomplete folder was removed. */
  forgetBegun(checkpoint: string): void {
    removeRunFile(this.#runDir, `${place}/${checkpoint}.begun`);
  }

  /** Called once the platform has completed or refused the checkpoint, or once it is not offered again any more. */
  settle(checkpoint: string): void {
    this.forgetBegun(checkpoint);
    removeRunFile(this.#runDir, `${place}/${checkpoint}.json`);
    this.#offered.delete(checkpoint);
  }

  /** The checkpoints for a report: those with the most steps first, up to the limit; undefined for none. */
  named(): Plain<SealedCheckpoints> | undefined {
    const names = new Set(this.#names(".json").names);
    for (const known of this.#read.keys()) if (!names.has(known)) this.#read.delete(known);
    const checkpoints = [...names].flatMap((checkpoint) => this.#told(checkpoint) ?? []);
    this.#seen = checkpoints.toSorted((a, b) => b.step - a.step);
    return reported(this.#seen);
  }

  /**
   * The checkpoints of the last look that the platform may still take: none of a lost run, and none that it has given
   * up. With them those that are offered again.
   */
  underWay(): Plain<SealedCheckpoints> | undefined {
    const seen = this.isLost ? [] : this.#seen;
    const rest = seen.filter(
      ({ checkpoint }) => !this.#abandoned.has(checkpoint) && !this.#offered.has(checkpoint),
    );
    return reported([...this.#offered.values(), ...rest]);
  }

  /** The checkpoints that are offered again. */
  offered(): Plain<SealedCheckpoints> | undefined {
    return reported([...this.#offered.values()]);
  }

  #told(checkpoint: string): Plain<SealedCheckpoint> | null {
    const known = this.#read.get(checkpoint);
    if (known !== undefined) return known;
    const record = this.#record(checkpoint);
    const told = record === null ? null : toldOf(record);
    this.#read.set(checkpoint, told);
    return told;
  }

  /** Returns the checkpoints with a file of this ending; other files are skipped, and do not count. */
  #names(ending: string): Names {
    if (this.#isOfTask) return { names: [], isAll: true };
    const found = withinRun(this.#runDir, place, (path) => this.#namesIn(path, ending));
    // A file or a link at the folder's path is not the SDK's.
    return found ?? { names: [], isAll: true };
  }

  #namesIn(path: string, ending: string): Names {
    using folder = opendirSync(path);
    const names: string[] = [];
    for (let looks = 0; looks < limits.spoolLooksMax; looks += 1) {
      const entry = folder.readSync();
      if (entry === null) return { names, isAll: true };
      const name = basename(entry.name, ending);
      if (!entry.name.endsWith(ending) || !isCheckpointId(name)) continue;
      if (names.length === limits.spoolEntriesMax) break;
      names.push(name);
    }
    return { names, isAll: false };
  }

  #record(checkpoint: string, folder = place): Sealed | null {
    try {
      const written = readRunFile(
        this.#runDir,
        `${folder}/${checkpoint}.json`,
        limits.sealedBytesMax,
      );
      if (!Buffer.isBuffer(written)) return null;
      const sealed = JSON.parse(written.toString("utf8")) as Sealed;
      const { manifest, ofOthers = [], sealedMs, stepsCompleted } = sealed;
      const isWhole =
        Array.isArray(manifest) &&
        Array.isArray(ofOthers) &&
        Number.isFinite(sealedMs) &&
        Number.isFinite(stepsCompleted);
      return isWhole && sealed.checkpoint === checkpoint ? sealed : null;
    } catch {
      return null;
    }
  }
}

function reported(
  checkpoints: readonly Plain<SealedCheckpoint>[],
): Plain<SealedCheckpoints> | undefined {
  if (checkpoints.length === 0) return undefined;
  return { checkpoints: checkpoints.slice(0, limits.sealedNamedMax) };
}

function toldOf({ checkpoint, stepsCompleted, manifest }: Sealed): Plain<SealedCheckpoint> {
  // The size comes from the process: an invalid size counts as 0.
  const sizes = manifest.map((file) => sizeOf((file as { bytes?: unknown } | null)?.bytes));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { checkpoint, step: stepsCompleted, bytes };
}

function sizeOf(bytes: unknown): number {
  return typeof bytes === "number" && Number.isSafeInteger(bytes) ? Math.max(bytes, 0) : 0;
}
