/** The refusal of a folder of training code that is too large: it names the largest files, with their sizes. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "@trainyard/kernel";
import { cliLimits } from "./limits.ts";
import { UsageError } from "./usage-error.ts";

const units = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, "B"],
] as const;

/** Formats a size in whole units, as the Python client does. */
function sizeText(bytes: number): string {
  const [unit, name] = units.find(([least]) => bytes >= least) ?? [1, "B"];
  return `${Math.floor((bytes + unit / 2) / unit)} ${name}`;
}

/** Returns the refusal of a folder whose packed files, with these paths below it, are over the limit. */
export async function tooLarge(
  folder: string,
  shownAs: string,
  paths: readonly string[],
): Promise<UsageError> {
  const mebibytes = limits.contextBytesMax / 1024 / 1024;
  const largest = await largestFiles(folder, paths);
  return new UsageError(
    `The context ${shownAs} is over ${mebibytes} MiB packed. Its largest files are ${largest}; name what the training does not need in ${shownAs}/.trainyardignore.`,
  );
}

/** Returns "data/a.bin (120 MiB), b.bin (3 MiB) and c (1 KiB)" of these paths below the folder. */
async function largestFiles(folder: string, paths: readonly string[]): Promise<string> {
  const sized: { readonly path: string; readonly size: number }[] = [];
  for (const path of paths) {
    const found = await lstat(join(folder, path)).catch(() => null);
    if (found?.isFile() === true) sized.push({ path, size: found.size });
  }
  // The sort is stable, and files of one size keep the order of the archive.
  const largest = sized.sort((a, b) => b.size - a.size).slice(0, cliLimits.largestNamed);
  const named = largest.map(({ path, size }) => `${path} (${sizeText(size)})`);
  return named.length < 2
    ? named.join("")
    : `${named.slice(0, -1).join(", ")} and ${named.at(-1) ?? ""}`;
}
