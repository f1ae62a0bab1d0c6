/**
 * The folder of a TensorBoard's run with copies of its trials' files: `tensorboard/<experiment>/<trial>/…` in the run's
 * state folder. It belongs to the agent's user, and the run's user may only read it: the run's own programs cannot put
 * a link there that the agent would follow.
 *
 * Nothing but the files says what is there: a copy has the size and the time of its original. A file of events only
 * grows, and TensorBoard keeps it open, so its copy grows in place. Other files are replaced as a whole.
 */
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rm, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isExperimentId, parseTrialId } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { names } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Owner } from "../state/run-user.ts";
import type { BoardFile, BoardTrial } from "./board-source.ts";

export const tensorBoardKind = "tensorboard";

const readableFolder = 0o755;
const readableFile = 0o644;

/** A copy in progress; TensorBoard reads only files whose names contain `tfevents`. */
const draftName = ".copy";

type Held = { readonly bytes: number; readonly changedAtMs: number };

/** Returns the folder of a TensorBoard's files; null for another run. */
export function boardFolderOf({ launch, path }: Pick<RunFolder, "launch" | "path">): string | null {
  return launch.task?.kind === tensorBoardKind ? join(path, names.tensorboard) : null;
}

/** Makes the folder of a TensorBoard's run. Other users of the host see its path among the processes. */
export function makeBoardFolder(path: string, owner: Owner | null): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner !== null) chownSync(path, process.getuid?.() ?? 0, owner.gid);
  chmodSync(path, owner === null ? readableFolder : 0o750);
}

export class BoardFolder {
  readonly #root: string;
  /** The files that are here, by their paths below the root; null until they are read. */
  #held: Map<string, Held> | null = null;
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** Returns the bytes of all copies. */
  async bytes(): Promise<number> {
    await this.#read();
    return this.#bytes;
  }

  async count(): Promise<number> {
    return (await this.#read()).size;
  }

  /** Returns the copy of a file; undefined if there is none. */
  async copyOf(path: string): Promise<Held | undefined> {
    return (await this.#read()).get(path);
  }

  /**
   * Brings a copy up to date with at most the bytes that were listed. `read` returns the bytes of the original from an
   * offset on. A copy that is cut off has the time 0, so that the next pass continues it. After an error only `forget`
   * may follow.
   */
  async update(
    path: string,
    { bytes, changedAtMs }: BoardFile,
    read: (offset: number) => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const held = await this.#read();
    const there = held.get(path);
    const grows = there !== undefined && isOfEvents(path) && there.bytes <= bytes;
    const target = join(this.#root, path);
    const written = grows ? target : join(dirname(target), draftName);
    if (!grows) await makeReadable(this.#root, dirname(path));
    const offset = grows ? there.bytes : 0;
    const end = await write(written, offset, bytes, read(offset));
    const atMs = end === bytes ? changedAtMs : 0;
    await utimes(written, atMs / 1_000, atMs / 1_000);
    if (!grows) await rename(written, target);
    this.#bytes += end - (there?.bytes ?? 0);
    held.set(path, { bytes: end, changedAtMs: atMs });
  }

  /** Removes the copies that are not among the paths. */
  async keepOnly(paths: ReadonlySet<string>): Promise<void> {
    const held = await this.#read();
    for (const [path, { bytes }] of [...held].filter(([one]) => !paths.has(one))) {
      await rm(join(this.#root, path), { force: true });
      held.delete(path);
      this.#bytes -= bytes;
    }
  }

  /** Forgets what is here after an error, so that the next look reads it from the disk. */
  forget(): void {
    this.#held = null;
  }

  async #read(): Promise<Map<string, Held>> {
    if (this.#held !== null) return this.#held;
    const held = new Map<string, Held>();
    const entries = await readdir(this.#root, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      // A draft was cut off by an error or with its agent, and its original may be gone.
      if (entry.name === draftName) {
        await rm(path, { force: true });
        continue;
      }
      const { size: bytes, mtimeMs } = await lstat(path);
      held.set(path.slice(this.#root.length + 1), { bytes, changedAtMs: Math.round(mtimeMs) });
    }
    this.#held = held;
    this.#bytes = [...held.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    return held;
  }
}

/** Returns whether a copy is like its listed original. Times are compared in milliseconds. */
export function isCurrent(held: Held | undefined, { bytes, changedAtMs }: BoardFile): boolean {
  return held?.bytes === bytes && held.changedAtMs === Math.round(changedAtMs);
}

/** Returns the path of a copy below the folder; null for names that the gateway does not give. */
export function placeOf({ experiment, trial }: BoardTrial, path: string): string | null {
  if (!isExperimentId(experiment) || parseTrialId(trial)?.experiment !== experiment) return null;
  const parts = path.split("/");
  const isPlain = (part: string): boolean =>
    part !== "" && part !== "." && part !== ".." && part !== draftName && !part.includes("\0");
  if (!parts.every(isPlain) || Buffer.byteLength(path) > limits.boards.pathBytesMax) return null;
  return [experiment, trial, ...parts].join("/");
}

const isOfEvents = (path: string): boolean => basename(path).includes("tfevents");

async function makeReadable(root: string, below: string): Promise<void> {
  let folder = root;
  for (const name of below.split("/")) {
    folder = join(folder, name);
    try {
      await mkdir(folder, { mode: readableFolder });
      await chmod(folder, readableFolder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Writes bytes from an offset on, up to `end`. Returns the size. */
async function write(
  path: string,
  offset: number,
  end: number,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  await using file = await open(path, offset === 0 ? "w" : "r+", readableFile);
  await file.chmod(readableFile);
  let at = offset;
  if (at === end) return at;
  for await (const chunk of content) {
    const some = chunk.subarray(0, end - at);
    await file.write(some, 0, some.byteLength, at);
    at += some.byteLength;
    if (at === end) break;
  }
  return at;
}
