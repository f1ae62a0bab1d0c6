/**
 * Compares the files of a checkpoint's folder with its manifest.
 *
 * A missing or different file counts only in the storage that the checkpoint was written to, as seen before and after
 * reading: an unmounted share looks like an empty folder.
 */
import { basename, dirname } from "node:path";
import { type KnownDigest, problemOfStorage, type StorageDisk } from "@trainyard/blob";
import type { Manifest } from "../core/manifest.ts";

/** A checkpoint's folder, and the id of its storage; empty if unknown. */
export type FolderPlace = { readonly folder: string; readonly storageId: string };

export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "differs"; readonly path: string; readonly detail: string }
  /**
   * The storage is visible, but the folder or a file is missing, or a file is short: damaged, or not seen yet by a host
   * that caches names and sizes.
   */
  | { readonly kind: "absent"; readonly path: string; readonly detail: string }
  /** The storage cannot be read, so the files' state is unknown. */
  | { readonly kind: "unreadable"; readonly detail: string };

export type ComparingDisk = Pick<StorageDisk, "seen" | "compare">;

/** Verifies the files of a folder. A file that has not changed since its digest became known is not read again. */
export async function verifyFiles(
  disk: ComparingDisk,
  place: FolderPlace,
  manifest: Manifest,
  known: readonly KnownDigest[] = [],
): Promise<Verdict> {
  const before = await problemOf(disk, place);
  if (before !== null && place.storageId !== "") return { kind: "unreadable", detail: before };
  const [root, checkpoint] = placeOf(place);
  const compared = await disk.compare(root, checkpoint, manifest, { known });
  if (compared.kind === "unreadable") return compared;
  const verdict = verdictOf(compared, manifest);
  if (verdict.kind === "verified") return verdict;
  const after = await problemOf(disk, place);
  if (after === null) return verdict;
  const file = `the file ${JSON.stringify(verdict.path)} ${verdict.detail}`;
  return { kind: "unreadable", detail: `${file}, and ${after}` };
}

function verdictOf(
  compared: Exclude<Awaited<ReturnType<StorageDisk["compare"]>>, { readonly kind: "unreadable" }>,
  manifest: Manifest,
) {
  if (compared.kind === "absent") {
    const path = manifest[0]?.path ?? "";
    return { kind: "absent", path, detail: "is missing, with its whole folder" } as const;
  }
  const [difference] = compared.differences;
  if (difference === undefined) return { kind: "verified" } as const;
  const { path, detail, mayBeStale } = difference;
  return { kind: mayBeStale === true ? "absent" : "differs", path, detail } as const;
}

/**
 * Returns the reason why differences do not count; null if this host sees the storage that the checkpoint was written
 * to.
 */
export async function problemOf(disk: ComparingDisk, place: FolderPlace): Promise<string | null> {
  const [root] = placeOf(place);
  return problemOfStorage(root, place.storageId, await disk.seen(root));
}

/** Returns the root of the storage, and the name of the folder in it. */
export function placeOf({ folder }: Pick<FolderPlace, "folder">): readonly [string, string] {
  return [dirname(folder), basename(folder)];
}
