/**
 * Keeps the compiled programs of a checkout (see compile.ts) in its `.cache/programs`: they are compiled again when
 * their sources have changed. Chunks are named by their content and appear before the programs that import them, so
 * processes that start meanwhile, or that run from older sources, find all their files.
 */
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { root } from "../root.ts";

/** Chunks of older sources are kept for processes that have not loaded all of them. */
const keptMs = 30 * 24 * 3_600_000;
/** Besides the sources themselves, these decide what is compiled. */
const settings = ["pnpm-lock.yaml", "{libs,services}/*/package.json", "scripts/lib/programs/*.ts"];

/** A compilation takes seconds, also on a slow machine. */
const compiledByAnotherMs = 60_000;

/** Compiled programs contain paths of their checkout, so they do not run from where a checkout was moved or copied. */
type Manifest = {
  readonly checkout: string;
  readonly sources: readonly Source[];
  /** The paths of the compiled files, which a cleaner of old files may delete, below their folder. */
  readonly compiled: readonly string[];
};

/** The path of a source below the checkout, the time of its last change, and its size in bytes. */
type Source = readonly [path: string, mtimeMs: number, bytes: number];

/** Compiles programs into a folder; calls `onRead` with the absolute path of each source before it is read. */
type Compile = (folder: string, onRead: (source: string) => void) => Promise<void>;

const folderOf = (checkout: string): string => join(checkout, ".cache", "programs");

/**
 * Makes all processes that are started from here on run compiled programs: sets TRAINYARD_PROGRAMS, which
 * `programFile` reads. If they cannot be compiled, programs run from their sources, as without this call.
 */
export async function useCompiledPrograms(): Promise<void> {
  // The caller has compiled them; the folder of another checkout has its programs.
  if (process.env["TRAINYARD_PROGRAMS"] === folderOf(root)) return;
  delete process.env["TRAINYARD_PROGRAMS"];
  const compile: Compile = async (folder, onRead) => {
    process.stderr.write("compiling the programs (after each change; a few seconds) …\n");
    await (await import("./compile.ts")).compileInto(folder, onRead);
  };
  try {
    process.env["TRAINYARD_PROGRAMS"] = await compiledPrograms(root, compile);
  } catch (error) {
    // Users of a checkout that belongs to somebody else cannot do anything about it.
    if (["EACCES", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) return;
    const why = stripVTControlCharacters((error as Error).message);
    process.stderr.write(
      `the programs run from their sources, since they cannot be compiled:\n${why}\n`,
    );
  }
}

/**
 * Returns the folder of the compiled programs, after it has compiled them if their sources have changed. Of several
 * concurrent processes one compiles, and the others wait for it.
 */
export async function compiledPrograms(checkout: string, compile: Compile): Promise<string> {
  const folder = folderOf(checkout);
  const manifest = join(folder, "sources.json");
  if (isCurrent(manifest, checkout)) return folder;
  mkdirSync(folder, { recursive: true });
  const { waitForLock } = await import("@trainyard/local-cluster/lock");
  using lock = await waitForLock(join(folder, "lock"), compiledByAnotherMs);
  if (isCurrent(manifest, checkout)) return folder;
  if (lock === null) throw new Error("the process that compiles them does not end");
  const draft = join(folder, ".draft");
  rmSync(draft, { recursive: true, force: true });
  try {
    // A source that changes after it was read differs from the manifest, and is compiled by the next call.
    const sources = globSync(settings, { cwd: checkout }).map((path) => sourceAt(checkout, path));
    mkdirSync(draft);
    await compile(draft, (path) => sources.push(sourceAt(checkout, relative(checkout, path))));
    const written = join(draft, "sources.json");
    const compiled = compiledIn(draft);
    writeFileSync(written, JSON.stringify({ checkout, sources, compiled } satisfies Manifest));
    publish(compiled, draft, folder);
    renameSync(written, manifest);
    removeOld(join(folder, "shared"));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

function isCurrent(manifest: string, checkout: string): boolean {
  try {
    const known = JSON.parse(readFileSync(manifest, "utf8")) as Manifest;
    if (known.checkout !== checkout) return false;
    const areSame = known.sources.every(([path, mtimeMs, bytes]) => {
      const now = statSync(join(checkout, path), { throwIfNoEntry: false });
      return now?.mtimeMs === mtimeMs && now.size === bytes;
    });
    return areSame && known.compiled.every((path) => existsSync(join(manifest, "..", path)));
  } catch {
    // Nothing was compiled yet, or the file is damaged.
    return false;
  }
}

function sourceAt(checkout: string, path: string): Source {
  const { mtimeMs, size } = statSync(join(checkout, path));
  return [path, mtimeMs, size];
}

function compiledIn(draft: string): readonly string[] {
  return readdirSync(draft, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".js"))
    .map((entry) => relative(draft, join(entry.parentPath, entry.name)));
}

function publish(files: readonly string[], draft: string, folder: string): void {
  const isShared = (file: string): number => (file.startsWith("shared") ? 0 : 1);
  for (const file of files.toSorted((a, b) => isShared(a) - isShared(b))) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    renameSync(join(draft, file), join(folder, file));
  }
}

function removeOld(folder: string): void {
  const oldestMs = Date.now() - keptMs;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < oldestMs) rmSync(path, { force: true });
  }
}
