/**
 * Files that are stored under the digest of their content: model code, submissions, the packages of runs. Several
 * experiments may name one file, which is deleted when no experiment names it (ADR 55):
 *
 *   kept → deleting → kept (spared)
 *                   → kept, with one deletion more: the previous file is permanently deleted
 *
 * The number of deletions is part of a file's name, so a late deletion cannot remove a file that was stored after it.
 * A commit that names content guards its stream and the number, so it conflicts with a concurrent deletion.
 */
import type { AnyEvent } from "@trainyard/contracts";
import { type Rejection, reject } from "@trainyard/kernel";
import type { StreamFold } from "./folds/folds.ts";
import type { Work } from "./work/work.ts";

export type Content = {
  readonly folder: "contexts" | "submissions" | "environments";
  /** The SHA-256 of the content, in hex. */
  readonly digest: string;
};

/** Content with its number of deletions. */
export type ContentFile = Content & { readonly deletions: number };

/** The state of shared content; the gateway owns its stream. */
export type StoredContent = { readonly deletions: number; readonly deleting: boolean };

export const contents: StreamFold<StoredContent> = {
  name: "stored-content",
  category: "content",
  initial: { deletions: 0, deleting: false },
  evolve({ deletions, deleting }: StoredContent, { type }: AnyEvent): StoredContent {
    switch (type) {
      case "ContentDeletionStarted":
        return { deletions, deleting: true };
      case "ContentSpared":
        return { deletions, deleting: false };
      case "ContentDeleted":
        return { deletions: deletions + 1, deleting: false };
      default:
        return { deletions, deleting };
    }
  },
};

/** Returns the id of the content's stream. */
export const contentId = ({ folder, digest }: Content): string => `${folder}.${digest}`;

/** Returns the content's key in the blob store. */
export function contentKey({ folder, digest, deletions }: ContentFile): string {
  const suffix = folder === "contexts" ? "tar.gz" : "json";
  return `${folder}/${digest}${deletions === 0 ? "" : `.${deletions}`}.${suffix}`;
}

const keyPattern =
  /^(?:contexts\/([0-9a-f]{64})(?:\.[1-9]\d*)?\.tar\.gz|(?:submissions|environments)\/([0-9a-f]{64})(?:\.[1-9]\d*)?\.json)$/;

/** Returns the digest of the content with a key of the blob store; null for any other key. */
export function digestOfContentKey(key: string): string | null {
  const [, code, json] = keyPattern.exec(key) ?? [];
  return code ?? json ?? null;
}

/**
 * Returns null if a commit of this work may name these stored files; the commit then succeeds only if none is deleted
 * meanwhile.
 */
export async function refusalOfContents(
  work: Work,
  files: readonly ContentFile[],
): Promise<Rejection | null> {
  for (const file of files) {
    if (file.digest === "") continue;
    const { deletions, deleting } = await work.guard(contents, contentId(file));
    if (!deleting && deletions === file.deletions) continue;
    return reject("content_deleted", "the stored files were just deleted");
  }
  return null;
}
