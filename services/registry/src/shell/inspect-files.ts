/**
 * Reads every byte of a checkpoint again and lists all differences from its manifest: changed, resized, missing and
 * extra files. The storage must be visible to this host before and after reading; otherwise the result proves nothing.
 */
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { type ComparingDisk, type FolderPlace, placeOf, problemOf } from "./verify-files.ts";

export type Finding = { readonly path: string; readonly kind: string; readonly detail: string };

export type Inspection =
  | { readonly kind: "inspected"; readonly problems: readonly Finding[]; readonly count: number }
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
  const problems: readonly Finding[] =
    compared.kind === "compared"
      ? compared.differences
      : manifest.map(({ path }) => ({ path, kind: "missing", detail: "is missing" }));
  const told = problems.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    kind: "inspected",
    problems: told.slice(0, registryLimits.findingsToldMax),
    count: told.length,
  };
}
