/**
 * Packs a folder of training code as a gzip-compressed tar, without the files that .trainyardignore and .detignore
 * name.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "@trainyard/kernel";
import ignore, { type Ignore } from "ignore";
import { create } from "tar";
import { cliLimits } from "./limits.ts";
import { tooLarge } from "./packed-sizes.ts";
import { UsageError } from "./usage-error.ts";

/** The files that are never training code; the last pattern is the output of local trainings. */
const always = [".git", "__pycache__", "*.pyc", ".trainyard", "trainyard-local/"];

export type PackedContext = {
  readonly bytes: Uint8Array;
  readonly files: number;
  /** Whether the folder has a startup hook. Determined runs it before the entrypoint; Trainyard does not. */
  readonly hasStartupHook: boolean;
};

export async function packContext(folder: string, shownAs: string): Promise<PackedContext> {
  const found = await stat(folder).catch(() => null);
  if (found === null) throw new UsageError(`The context folder ${shownAs} does not exist.`);
  if (!found.isDirectory()) throw new UsageError(`The context ${shownAs} is not a folder.`);
  const paths = await contextPaths(folder, shownAs, await contextRules(folder));
  // Equal files are packed to equal bytes: a repeated submission is recognised by its digest.
  const pack = create(
    { cwd: folder, gzip: { level: 6 }, portable: true, noMtime: true, noDirRecurse: true },
    // The packer refuses an empty list, so an empty folder is packed as ".".
    paths.length === 0 ? ["."] : paths.map(asPath),
  );
  // The iteration below gets the first error of the packer. It emits another for each file that it cannot read.
  pack.on("error", () => {});
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of pack as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limits.contextBytesMax) throw await tooLarge(folder, shownAs, paths);
      chunks.push(chunk);
    }
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new UsageError(`The context ${shownAs} cannot be read: ${error.message}.`);
  }
  const hasStartupHook = paths.includes(startupHook);
  return { bytes: Buffer.concat(chunks), files: paths.length, hasStartupHook };
}

export const startupHook = "startup-hook.sh";

/**
 * Adds ./ to a path that the packer would misread: a leading @ means an archive to copy from, and "C:" or a leading
 * backslash a root on Windows.
 */
const asPath = (path: string): string => (/^(@|[A-Za-z]:|\\)/.test(path) ? `./${path}` : path);

/** Throws a UsageError for a file name that is not UTF-8, which an archive cannot contain. */
function requireUtf8(raw: Uint8Array, name: string, shownAs: string): void {
  if (Buffer.from(name, "utf8").equals(raw)) return;
  throw new UsageError(`The context ${shownAs} cannot be read: the name ${name} is not UTF-8.`);
}

/** Returns the rules for the files that are left out, by paths relative to the folder. */
export async function contextRules(folder: string): Promise<Ignore> {
  const rules = ignore().add(always);
  for (const name of [".trainyardignore", ".detignore"]) {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    rules.add(text);
  }
  return rules;
}

/** Returns the files, links and empty folders, sorted, as relative paths with /. */
async function contextPaths(folder: string, shownAs: string, rules: Ignore): Promise<string[]> {
  const paths: string[] = [];
  const visit = async (inside: string): Promise<void> => {
    const found = await readdir(join(folder, inside), { withFileTypes: true, encoding: "buffer" });
    const entries = found.map((entry) => ({ entry, name: entry.name.toString("utf8") }));
    for (const { entry, name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = inside === "" ? name : `${inside}/${name}`;
      if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
      requireUtf8(entry.name, name, shownAs);
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile() || entry.isSymbolicLink()) paths.push(path);
      if (paths.length > cliLimits.contextFilesMax) {
        throw new UsageError(
          `The context has more than ${cliLimits.contextFilesMax} files: is ${folder} the right folder?`,
        );
      }
    }
    if (entries.length === 0 && inside !== "") paths.push(inside);
  };
  await visit("");
  return paths;
}
