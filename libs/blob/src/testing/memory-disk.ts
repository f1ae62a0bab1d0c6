/** Hosts and storages in memory, for tests. */
import { createHash } from "node:crypto";
import { Fault } from "@trainyard/kernel";
import type { Comparison, Difference, ExpectedFile, KnownDigest } from "../compare-files.ts";
import { globMatcher } from "../glob.ts";
import { markerText, readMarkerText, type SeenStorage, type StorageMark } from "../marker-text.ts";
import type { Removed } from "../remove-below.ts";
import type { CompareOptions, Listing, OpenedFile, StorageDisk } from "../storage-disk.ts";
import { problemOfStorage } from "../storage-marker.ts";

type File = { readonly content: Uint8Array; readonly changedAtMs: number };

/** The content of a storage's root, which several hosts may mount. */
export class MemoryStorage {
  /** The content of the marker; null if the storage has no marker. */
  marker: string | null = null;
  /** The owner of each folder. */
  owner = 0;
  /** The files by their paths; a folder exists while it has a file. */
  readonly #files = new Map<string, File>();
  #changes = 0;

  write(path: string, content: string): void {
    this.#changes += 1;
    this.#files.set(path, { content: Buffer.from(content), changedAtMs: this.#changes });
  }

  delete(path: string): void {
    this.#files.delete(path);
  }

  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** The files of a folder by their paths below it, sorted. */
  below(folder: string): ReadonlyMap<string, File> {
    const start = `${folder}/`;
    const found = [...this.#files].filter(([path]) => path.startsWith(start));
    const named = found.map(([path, file]) => [path.slice(start.length), file] as const);
    return new Map(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
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

  async names(root: string): Promise<readonly string[]> {
    return [...new Set(this.at(root).paths.map((path) => path.split("/")[0] ?? ""))];
  }

  async ownerOf(root: string, below: string): Promise<number | null> {
    const storage = this.at(root);
    return storage.below(below).size === 0 ? null : storage.owner;
  }

  async changedAtMs(root: string, below: string): Promise<number> {
    const times = [...this.at(root).below(below).values()].map(({ changedAtMs }) => changedAtMs);
    return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
  }

  async files(root: string, below: string, max: number): Promise<Listing> {
    const files = [...this.at(root).below(below).keys()];
    return files.length > max ? { problem: `has more than ${max} files` } : { files };
  }

  async compare(
    root: string,
    below: string,
    files: readonly ExpectedFile[],
    { known = [], every = false }: CompareOptions = {},
  ): Promise<Comparison> {
    const there = this.at(root).below(below);
    if (there.size === 0) return { kind: "absent" };
    const knownOf = new Map(known.map((one) => [one.path, one]));
    const differences = files.flatMap((file) => {
      return differenceOf(file, there.get(file.path), knownOf.get(file.path)) ?? [];
    });
    if (!every) return { kind: "compared", differences: differences.slice(0, 1), extras: [] };
    const expected = new Set(files.map(({ path }) => path));
    const extras = [...there.keys()].filter((path) => !expected.has(path));
    return { kind: "compared", differences, extras };
  }

  async digests(
    root: string,
    below: string,
    paths: readonly string[],
    bytesMax: number,
  ): Promise<readonly KnownDigest[]> {
    const there = this.at(root).below(below);
    let left = bytesMax;
    return paths.flatMap((path) => {
      const file = there.get(path);
      if (file === undefined || file.content.length > left) return [];
      left -= file.content.length;
      return { path, identity: String(file.changedAtMs), sha256: sha256(file) };
    });
  }

  async read(root: string, below: string, path: string): Promise<OpenedFile> {
    const file = this.at(root).below(below).get(path);
    if (file === undefined) throw new Error(`ENOENT: ${path} is missing`);
    const { content, changedAtMs } = file;
    return {
      bytes: content.length,
      mode: 0o644,
      changedAtMs,
      content: (async function* () {
        yield content;
      })(),
      [Symbol.asyncDispose]: async () => {},
    };
  }

  async removeFolder(root: string, below: string): Promise<void> {
    await this.removeFiles(root, below, ["**"]);
  }

  async removeFiles(root: string, below: string, globs: readonly string[]): Promise<Removed> {
    const matches = globMatcher(globs);
    const matching = [...this.at(root).below(below)].filter(([path]) => matches(path));
    for (const [path] of matching) this.at(root).delete(`${below}/${path}`);
    const bytes = matching.reduce((sum, [, { content }]) => sum + content.length, 0);
    return { files: matching.length, bytes };
  }
}

function differenceOf(
  { path, bytes, sha256: expected }: ExpectedFile,
  file: File | undefined,
  known: KnownDigest | undefined,
): Difference | null {
  if (file === undefined) return { path, kind: "missing", detail: "is missing" };
  if (file.content.length !== bytes) {
    const detail = `has ${file.content.length} bytes, and the manifest says ${bytes}`;
    return { path, kind: "resized", detail };
  }
  const digest = known?.identity === String(file.changedAtMs) ? known.sha256 : sha256(file);
  if (expected === undefined || digest === expected) return null;
  const detail = `has SHA-256 ${digest}, and the manifest says ${expected}`;
  return { path, kind: "flipped", detail };
}

function sha256({ content }: File): string {
  return createHash("sha256").update(content).digest("hex");
}
