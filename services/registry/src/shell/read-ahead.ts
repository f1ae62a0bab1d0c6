/**
 * Reads files of a directory storage ahead: a run names the files that it has written, and the registry hashes them
 * while the run still makes them durable. A completion joins a running read, and reads only files that were not named
 * or have changed since. Nothing depends on reading ahead: after a restart, all files are read at the completion.
 */
import { checkpointFolder, checkpointStorage, type KnownDigest } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { ReadAhead, ReadAheadBegun } from "@trainyard/contracts/commands";
import { isCheckpointId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { refusalOfMaker } from "../core/maker.ts";
import { staysInside } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { storageSource } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { ownCheckpoint, refusalOfRun } from "./open-checkpoint.ts";

type Read = (folder: string, paths: readonly string[]) => Promise<readonly KnownDigest[]>;

export class ReadAheads {
  readonly #read: Read;
  /** The running reads by folder. */
  readonly #reading = new Map<string, Promise<readonly KnownDigest[]>>();
  /** The number of running reads, including those that a completion has joined. */
  #atWork = 0;

  constructor(read: Read) {
    this.#read = read;
  }

  /** Begins to read a folder, unless it is being read. Returns false if the maximum of concurrent reads is reached. */
  begin(folder: string, paths: readonly string[]): boolean {
    if (this.#reading.has(folder)) return true;
    if (this.#atWork >= registryLimits.readAheadsAtOnceMax) return false;
    this.#reading.set(folder, this.#begun(folder, paths));
    const [oldest] = this.#reading.keys();
    if (this.#reading.size > registryLimits.readAheadsRememberedMax && oldest !== undefined) {
      this.#reading.delete(oldest);
    }
    return true;
  }

  async #begun(folder: string, paths: readonly string[]): Promise<readonly KnownDigest[]> {
    this.#atWork += 1;
    try {
      return await this.#read(folder, paths);
    } catch {
      // The completion reads the files if the process was lost.
      return [];
    } finally {
      this.#atWork -= 1;
    }
  }

  /** Removes and returns the digests of a folder; empty for a folder that was not read ahead. */
  async take(folder: string): Promise<readonly KnownDigest[]> {
    const reading = this.#reading.get(folder);
    this.#reading.delete(folder);
    return (await reading) ?? [];
  }
}

/** Reads ahead files of the run's incomplete checkpoint, which need not be declared yet. */
export async function readAhead(
  deps: Pick<CommandDeps, "executor" | "hold" | "checkpointDir" | "readAheads">,
  request: Plain<ReadAhead>,
): Promise<Plain<ReadAheadBegun> | Rejection> {
  const { checkpoint, paths } = request;
  const unknown = refusalOfMaker(request);
  if (unknown !== null) return unknown;
  if (!isCheckpointId(checkpoint)) {
    return reject("invalid_request", "checkpoint must be a UUID in lower case");
  }
  const { filesReadAheadMax } = registryLimits;
  if (paths.length > filesReadAheadMax || !paths.every(staysInside)) {
    const detail = `paths must be relative, and at most ${filesReadAheadMax} per request`;
    return reject("invalid_request", detail);
  }
  const refusal = await refusalOfRun(deps, request);
  if (refusal !== null) return refusal;
  const own = await ownCheckpoint(deps, request);
  const isDeclared = !isRejection(own);
  if (!isDeclared && own.rejected !== "checkpoint_not_found") return own;
  if (isDeclared && own.state.status !== "declared") return { files: 0 };
  const { executor, checkpointDir, readAheads } = deps;
  const { fold, id } = storageSource(request);
  const { storage } = (await executor.cache.load(fold, id)).state;
  const folder = checkpointFolder(checkpointStorage(storage, checkpointDir), checkpoint);
  if (folder === null) return { files: 0 };
  return { files: readAheads.begin(folder, paths) ? paths.length : 0 };
}
