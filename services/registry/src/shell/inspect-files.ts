/**
 * Reads every byte of a checkpoint again and lists all differences from its manifest: changed, resized and missing
 * files. Files that the manifest does not name are listed apart: they are no damage, because nothing reads them. The
 * storage must be visible to this host before and after reading; otherwise the result proves nothing.
 */
import { type Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { mapConcurrently } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { type FolderPlace, problemOf, verifyFile } from "./verify-files.ts";

export type Finding = { readonly path: string; readonly kind: string; readonly detail: string };

export type Inspection =
  | {
      readonly kind: "inspected";
      readonly problems: readonly Finding[];
      readonly count: number;
      /** The paths of files that the manifest does not name. */
      readonly extras: readonly string[];
      readonly extraCount: number;
    }
  | { readonly kind: "unreadable"; readonly detail: string };

export async function inspectFiles(place: FolderPlace, manifest: Manifest): Promise<Inspection> {
  const before = await problemOf(place);
  if (before !== null) return { kind: "unreadable", detail: before };
  const problems: Finding[] = [];
  let unreadable: string | null = null;
  await mapConcurrently(manifest, registryLimits.filesHashedAtOnce, async (file) => {
    const { path } = file;
    const verdict = await verifyFile(place.folder, file);
    if (verdict.kind === "unreadable") unreadable ??= verdict.detail;
    if (verdict.kind === "differs") {
      problems.push({ path, kind: kindOf(verdict.detail), detail: verdict.detail });
    }
  });
  const named = new Set(manifest.map(({ path }) => path));
  const extras = (await namesBelow(place.folder)).filter((path) => !named.has(path));
  const after = await problemOf(place);
  const detail = unreadable ?? after;
  if (detail !== null) return { kind: "unreadable", detail };
  return inspected(problems, extras);
}

/** Returns what an inspection found, in the order of the paths and no more than an answer holds. */
export function inspected(problems: readonly Finding[], extras: readonly string[]): Inspection {
  const { findingsToldMax } = registryLimits;
  const sorted = problems.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    kind: "inspected",
    problems: sorted.slice(0, findingsToldMax),
    count: problems.length,
    extras: extras.toSorted().slice(0, findingsToldMax),
    extraCount: extras.length,
  };
}

/** Reads the kind from the message of `verifyFile`, which contains one of these words. */
function kindOf(detail: string): string {
  if (detail.startsWith("is missing")) return "missing";
  if (detail.startsWith("has SHA-256")) return "flipped";
  return detail.startsWith("has ") ? "resized" : "not_a_file";
}

/** All names below a folder except folders; links are not followed. */
async function namesBelow(folder: string, below = ""): Promise<readonly string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(
    (error: unknown): Dirent[] => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return [];
      throw error;
    },
  );
  const names: string[] = [];
  for (const entry of entries) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) names.push(...(await namesBelow(folder, path)));
    else names.push(path);
  }
  return names;
}
