/**
 * Deletes stored content that nothing names. The deletion is announced first (`ContentDeletionStarted`); then the users
 * of the content are read as of that position. A create that guards the content commits either before the announcement,
 * and is found as a user, or after it, and is refused. Several replicas may do this at once: only one decides, and each
 * may remove the file, whose name is never used again.
 */
import { shortNameOf } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { Bug, isRejection, streamName } from "@trainyard/kernel";
import {
  type Content,
  contentId,
  contentKey,
  foldOf,
  serviceMeta,
  streamEvents,
} from "@trainyard/runtime";
import { contents } from "../streams.ts";
import type { ContentParts } from "./contents.ts";
import type { ContentCommand, ContentState } from "./core/content.ts";

export type RemovalDeps = Pick<ContentParts, "executor" | "blobs"> & {
  readonly log: Pick<EventLog, "read">;
  /** Whether anything names the content at the position or later. Throws if that is unknown. */
  readonly isUsed: (content: Content, position: number) => Promise<boolean>;
};

const meta = serviceMeta("gateway");

/** Reads the state from the log, ignoring the cache. */
export async function contentState(
  { executor }: Pick<RemovalDeps, "executor">,
  content: Content,
): Promise<ContentState> {
  const { cache } = executor;
  cache.forget(streamName(contents.category, contentId(content)));
  return (await cache.load(foldOf(contents), contentId(content))).state;
}

/** Deletes content unless something names it. `position` is the position up to which the log was read. */
export async function deleteUnused(
  deps: RemovalDeps,
  content: Content,
  position: number,
): Promise<void> {
  const { blobs, isUsed } = deps;
  const known = await contentState(deps, content);
  // A crash after an earlier deletion may have left its file.
  if (known.deletions > 0) {
    await blobs.delete(contentKey({ ...content, deletions: known.deletions - 1 }));
  }
  if (!known.deleting) {
    if (await isUsed(content, position)) return;
    if ((await blobs.stat(contentKey({ ...content, deletions: known.deletions }))) === null) return;
    await decide(deps, content, { kind: "start" });
  }
  await finishDeletion(deps, content);
}

/** Decides the open attempt. If another replica has decided it, nothing is left to do. */
async function finishDeletion(deps: RemovalDeps, content: Content): Promise<void> {
  const { attempts: attempt, deletions, deleting } = await contentState(deps, content);
  if (!deleting) return;
  const startedAt = await startOf(deps, content, attempt);
  let isUsed: boolean;
  try {
    isUsed = await deps.isUsed(content, startedAt);
  } catch (error) {
    // Creates wait while an attempt is open, so it ends here; a later attempt follows when the users are known.
    await decide(deps, content, { kind: "spare", attempt });
    throw error;
  }
  const kind = isUsed ? "spare" : "delete";
  const isDecided = await decide(deps, content, { kind, attempt });
  // If the decision was made by another replica, that replica removes the file.
  if (isDecided && kind === "delete") {
    await deps.blobs.delete(contentKey({ ...content, deletions }));
  }
}

/** Returns the position at which an attempt began. */
async function startOf({ log }: RemovalDeps, content: Content, attempt: number): Promise<number> {
  let found = 0;
  for await (const { type, position } of streamEvents(log, `content-${contentId(content)}`)) {
    if (shortNameOf(type) === "ContentDeletionStarted") found += 1;
    if (found === attempt) return position;
  }
  throw new Bug(`attempt ${attempt} to delete ${contentId(content)} is in the log`);
}

/** Decides a command. Returns whether an event was appended. */
async function decide(
  { executor }: RemovalDeps,
  content: Content,
  command: ContentCommand,
): Promise<boolean> {
  const result = await executor.execute({ commitId: newEventId(), meta }, async (work) => {
    await work.decide(contents, contentId(content), command);
  });
  return !isRejection(result) && result.position > 0;
}
