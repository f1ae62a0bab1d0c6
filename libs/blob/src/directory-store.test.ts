import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { describe, expect, test } from "vitest";
import { blobStoreContract } from "./contract.ts";
import { openDirectoryBlobStore } from "./directory-store.ts";

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "trainyard-blob-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe("a directory", () => {
  blobStoreContract(async () => {
    const { path, ...rest } = await folder();
    return { store: await openDirectoryBlobStore(join(path, "blobs"), systemClock), ...rest };
  });

  test("leaves nothing beside the blobs, whether a put succeeds or fails", async () => {
    await using dir = await folder();
    const store = await openDirectoryBlobStore(dir.path, systemClock);
    const digest = createHash("sha256").update("x").digest("hex");
    async function* x(): AsyncIterable<Uint8Array> {
      yield Buffer.from("x");
    }
    await store.put("a", x(), digest);
    await expect(store.put("b", x(), "0".repeat(64))).rejects.toThrow("SHA-256");
    expect(await readdir(join(dir.path, ".incoming"))).toEqual([]);
    expect((await readdir(dir.path)).sort()).toEqual([".incoming", "a"]);
  });

  test("removes the drafts of a dead process after a day, and no younger ones", async () => {
    await using dir = await folder();
    const incoming = join(dir.path, ".incoming");
    await mkdir(incoming);
    await writeFile(join(incoming, "old"), "");
    await writeFile(join(incoming, "young"), "");
    const longAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(join(incoming, "old"), longAgo, longAgo);
    await openDirectoryBlobStore(dir.path, systemClock);
    expect(await readdir(incoming)).toEqual(["young"]);
  });

  test("a folder in the place of a blob is no blob", async () => {
    await using dir = await folder();
    const store = await openDirectoryBlobStore(dir.path, systemClock);
    await mkdir(join(dir.path, "folder"));
    expect(await store.get("folder")).toBeNull();
    expect(await store.stat("folder")).toBeNull();
  });
});
