import { createHash } from "node:crypto";
import { createMemoryBlobStore } from "@trainyard/blob/testing";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { type Content, contentKey, Executor, FoldCache } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { contentState, deleteUnused } from "./content-removal.ts";

const bytes = Buffer.from("packed code");
const digest = createHash("sha256").update(bytes).digest("hex");
const code: Content = { folder: "contexts", digest };

async function* oneChunk(chunk: Uint8Array) {
  yield chunk;
}

test("a deletion is postponed if it becomes unknown which experiments use the content, so that no create waits", async () => {
  const log = createMemoryLog().as("gateway");
  const blobs = createMemoryBlobStore();
  await blobs.put(contentKey({ ...code, deletions: 0 }), oneChunk(bytes), digest);
  const answers = ["unused", "unknown"];
  const isUsed = async (): Promise<boolean> => {
    if (answers.shift() !== "unknown") return false;
    throw new Fault("uses_unknown", "a test", { retry: "later" });
  };
  const deps = { log, blobs, isUsed, executor: new Executor(log, new FoldCache(log)) };
  await expect(deleteUnused(deps, code, 0)).rejects.toThrow("a test");
  expect(await contentState(deps, code)).toEqual({ deletions: 0, attempts: 1, deleting: false });
  expect(await blobs.stat(contentKey({ ...code, deletions: 0 }))).not.toBeNull();
  await deleteUnused(deps, code, 0);
  expect(await contentState(deps, code)).toEqual({ deletions: 1, attempts: 2, deleting: false });
  expect(await blobs.stat(contentKey({ ...code, deletions: 0 }))).toBeNull();
});
