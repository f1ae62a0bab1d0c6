/**
 * Reads every byte of a checkpoint again and lists all differences from its manifest: changed, resized and missing
 * files. Files that the manifest does not name are listed apart: they are no damage, because nothing reads them. The
 * storage must be visible to this host before and after reading; otherwise the result proves nothing.
 */
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { type ComparingDisk, type FolderPlace, placeOf, problemOf } from "./verify-files.ts";

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

export async function inspectFiles(
  disk: ComparingDisk,
  place: FolderPlace,
  manifest: Manifest,
): Promise<Inspection> {
  const before = await problemOf(disk, place);
  if (before !== null) return { kind: "unreadable", detail: before };
  const [root, checkpoint] = placeOf(place);
  const compared = await disk.compare(root, checkpoint, manifest, { every: true });
  if (compared.kind === "unreadable") return compared;
  const after = await problemOf(disk, place);
  if (after !== null) return { kind: "unreadable", detail: after };
  if (compared.kind === "compared") {
    const found = compared.differences.map(({ path, kind, detail }) => ({ path, kind, detail }));
    return inspected(found, compared.extras);
  }
  const missing = manifest.map(({ path }) => ({ path, kind: "missing", detail: "is missing" }));
  return inspected(missing, []);
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
