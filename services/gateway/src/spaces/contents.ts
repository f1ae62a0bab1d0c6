/** Stored contents, which are written before the commit that names them, and read by their digest. */
import type { BlobContent } from "@trainyard/blob";
import { pause, streamName } from "@trainyard/kernel";
import {
  type Content,
  type ContentFile,
  contentId,
  contentKey,
  contents,
  type StoredContent,
} from "@trainyard/runtime";
import type { BackendParts } from "../backend.ts";
import { Problem, unavailable } from "../http/problem.ts";
import { spaceLimits } from "./limits.ts";

const contentLookMs = 50;
/** The attempts of a create. Each one may meet another deletion of the same content, one per deleted experiment. */
const contentAttemptsMax = 5;

export type ContentParts = Pick<BackendParts, "executor" | "clock" | "blobs">;

/** Reads the state from the log, ignoring the cache. */
async function contentState(
  { executor }: Pick<ContentParts, "executor">,
  content: Content,
): Promise<StoredContent> {
  const { cache } = executor;
  cache.forget(streamName(contents.category, contentId(content)));
  return (await cache.load(contents, contentId(content))).state;
}

/**
 * Stores content unless it exists, and returns the file that a commit may name. Null if it does not exist and `bytes`
 * is absent.
 */
export async function storeContent(
  parts: ContentParts,
  content: Content,
  bytes?: () => AsyncIterable<Uint8Array>,
): Promise<ContentFile | null> {
  const file = await contentFile(parts, content);
  const key = contentKey(file);
  // An existing blob is complete and has these bytes.
  if ((await parts.blobs.stat(key)) !== null) return file;
  if (bytes === undefined) return null;
  await parts.blobs.put(key, bytes(), content.digest);
  return file;
}

/** Returns the file that a new experiment may name. Waits while a deletion of the content is being decided. */
async function contentFile(parts: ContentParts, content: Content): Promise<ContentFile> {
  const { clock } = parts;
  const untilMs = clock.monotonicMs() + spaceLimits.contentWaitMs;
  for (;;) {
    const { deletions, deleting } = await contentState(parts, content);
    if (!deleting) return { ...content, deletions };
    if (clock.monotonicMs() >= untilMs) {
      throw unavailable("what the experiment needs is being deleted; try again");
    }
    await pause(clock, contentLookMs);
  }
}

/** Reads content; null if it is not stored. */
export async function readContent(
  parts: ContentParts,
  content: Content,
): Promise<BlobContent | null> {
  if (content.digest === "") return null;
  const { deletions } = await contentState(parts, content);
  return parts.blobs.get(contentKey({ ...content, deletions }));
}

/** Repeats an attempt that stores content and commits, if the content was deleted before the commit. */
export async function namingContents<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const wasDeleted = error instanceof Problem && error.code === "content_deleted";
      if (!wasDeleted) throw error;
      if (tries === contentAttemptsMax) throw unavailable(error.message);
    }
  }
}
