/**
 * A disk whose storages may hang. A call first looks at the marker of its root, which answers soon or never: a root
 * that does not answer is a Fault `storage_away` with its path, and the brake refuses its calls for a while. Hashing
 * files may take hours: `compare` with digests and `digests` have no limit and no look of their own. Their callers look
 * at the root before, and again with each caller that joins. A few of them run at once for each root, so that a look
 * does not wait behind many reads.
 */
import type { Clock } from "@trainyard/kernel";
import { answerWithin, type StoreBrake } from "./objects/store-brake.ts";
import type { OpenedFile, StorageDisk } from "./storage-disk.ts";

export type BrakedDiskSettings = {
  readonly disk: StorageDisk;
  readonly brake: StoreBrake;
  readonly clock: Clock;
  /** A root that returns no marker in this time counts as hanging. */
  readonly seenMs: number;
  /** The longest wait for a listing, a removal, or a chunk of a file. The call continues meanwhile. */
  readonly workMs: number;
};

/** Folders of one root that are hashed at once: 12 files, of the 16 threads that the root's process has. */
const hashingAtOnce = 3;

export class BrakedDisk implements StorageDisk {
  readonly #settings: BrakedDiskSettings;
  readonly #signal: AbortSignal;
  readonly #hashing: Turns;

  /** At the signal no call is waited for any more. */
  constructor(
    settings: BrakedDiskSettings,
    signal: AbortSignal = new AbortController().signal,
    hashing = new Turns(hashingAtOnce),
  ) {
    this.#settings = settings;
    this.#signal = signal;
    this.#hashing = hashing;
  }

  /** Returns this disk for a caller that stops at the signal. */
  until(signal: AbortSignal): BrakedDisk {
    return new BrakedDisk(this.#settings, signal, this.#hashing);
  }

  seen: StorageDisk["seen"] = (root) => {
    const { brake, disk, seenMs } = this.#settings;
    return brake.ask(root, () => disk.seen(root), { ms: seenMs, signal: this.#signal });
  };

  mark: StorageDisk["mark"] = (root, id) => this.#work(root, (disk) => disk.mark(root, id));

  renew: StorageDisk["renew"] = (root, mark) => this.#work(root, (disk) => disk.renew(root, mark));

  names: StorageDisk["names"] = (root) => this.#work(root, (disk) => disk.names(root));

  ownerOf: StorageDisk["ownerOf"] = (root, below) =>
    this.#work(root, (disk) => disk.ownerOf(root, below));

  changedAtMs: StorageDisk["changedAtMs"] = (root, below) =>
    this.#work(root, (disk) => disk.changedAtMs(root, below));

  files: StorageDisk["files"] = (root, ...args) =>
    this.#work(root, (disk) => disk.files(root, ...args));

  removeFolder: StorageDisk["removeFolder"] = (root, below) =>
    this.#work(root, (disk) => disk.removeFolder(root, below));

  removeFiles: StorageDisk["removeFiles"] = (root, ...args) =>
    this.#work(root, (disk) => disk.removeFiles(root, ...args));

  compare: StorageDisk["compare"] = (root, below, files, options) => {
    const compare = (disk: StorageDisk) => disk.compare(root, below, files, options);
    const hashes = files.some(({ sha256 }) => sha256 !== undefined);
    if (!hashes) return this.#work(root, compare);
    return this.#hashing.run(root, () => compare(this.#settings.disk));
  };

  digests: StorageDisk["digests"] = (root, ...args) =>
    this.#hashing.run(root, () => this.#settings.disk.digests(root, ...args));

  read: StorageDisk["read"] = async (root, ...args) => {
    const file = await this.#work(root, (disk) => disk.read(root, ...args));
    return { ...file, content: this.#contentOf(root, file), ...this.#closing(root, file) };
  };

  /** A file that is open is read although others find that its root is slow. */
  async *#contentOf(root: string, file: OpenedFile): AsyncGenerator<Uint8Array> {
    const chunks = file.content[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#within(root, chunks.next());
      if (next.done === true) return;
      yield next.value;
    }
  }

  /** A file of a root that hangs is closed when the root is back, and nobody waits for it. */
  #closing(root: string, file: OpenedFile): AsyncDisposable {
    return {
      [Symbol.asyncDispose]: async () => {
        const closing = Promise.resolve(file[Symbol.asyncDispose]());
        await this.#within(root, closing, this.#settings.seenMs).catch(() => {});
      },
    };
  }

  #within<Result>(
    root: string,
    running: Promise<Result>,
    ms = this.#settings.workMs,
  ): Promise<Result> {
    return answerWithin(this.#settings.clock, root, running, { ms, signal: this.#signal });
  }

  async #work<Result>(root: string, work: (disk: StorageDisk) => Promise<Result>): Promise<Result> {
    await this.seen(root);
    const { brake, disk, workMs } = this.#settings;
    return brake.ask(root, () => work(disk), { ms: workMs, signal: this.#signal });
  }
}

/** Runs a few calls for each name at once; the others wait in order. */
class Turns {
  readonly #atOnce: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(name) ?? 0;
    if (running < this.#atOnce) this.#running.set(name, running + 1);
    else await this.#turn(name);
    try {
      return await call();
    } finally {
      this.#next(name);
    }
  }

  #turn(name: string): Promise<void> {
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  /** The turn that ends is given to the first that waits. */
  #next(name: string): void {
    const next = this.#waiting.get(name)?.shift();
    if (next !== undefined) return next();
    this.#waiting.delete(name);
    const running = (this.#running.get(name) ?? 1) - 1;
    if (running === 0) this.#running.delete(name);
    else this.#running.set(name, running);
  }
}
