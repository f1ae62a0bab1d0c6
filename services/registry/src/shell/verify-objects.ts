/**
 * Compares the objects of a checkpoint with its manifest by what the store says of them, without reading their bytes; a
 * store that keeps no checksum has them read. An upload in parts becomes an object here, once all its parts are there.
 */
import { createHash } from "node:crypto";
import { checkpointKey, compareWithFile, type ObjectStore, problemOfStore } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { ManifestEntry } from "@trainyard/contracts/commands";
import { isFault } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";
import { digestsOf, inLanes } from "./upload.ts";
import type { Verdict } from "./verify-files.ts";

type Entry = Plain<ManifestEntry>;

const verified: Verdict = { kind: "verified" };

export async function verifyObjects(
  store: ObjectStore,
  checkpoint: string,
  storageId: string,
  entries: readonly Entry[],
): Promise<Verdict> {
  try {
    const problem = await problemOfStore(store, storageId);
    if (problem !== null) return { kind: "unreadable", detail: problem };
    let absent: Verdict | null = null;
    // Whether more is missing makes no difference: hosts that still send their files are looked at again and again.
    const look = async (entry: Entry): Promise<Verdict> => {
      if (absent !== null) return absent;
      const verdict = await verifyObject(store, checkpoint, entry);
      if (verdict.kind === "unreadable") absent = verdict;
      return verdict;
    };
    const verdicts = await inLanes(entries, registryLimits.objectsAtOnce, look);
    return verdicts.find(({ kind }) => kind !== "verified") ?? verified;
  } catch (error) {
    if (!isFault(error)) throw error;
    return { kind: "unreadable", detail: error.message };
  }
}

async function verifyObject(
  store: ObjectStore,
  checkpoint: string,
  entry: Entry,
): Promise<Verdict> {
  const key = checkpointKey(checkpoint, entry.path);
  const file = digestsOf(entry);
  const inParts = entry.bytes > store.partBytes;
  const head = inParts ? await store.finishUpload(key, file) : await store.head(key);
  // It may be on its way: whether anyone still sends it is for the end of the run to tell.
  if (head === null) {
    return { kind: "unreadable", detail: `${JSON.stringify(entry.path)} was not sent yet` };
  }
  const differs = (detail: string): Verdict => ({ kind: "differs", path: entry.path, detail });
  if (head.bytes !== entry.bytes) {
    return differs(`has ${head.bytes} bytes, and the manifest says ${entry.bytes}`);
  }
  const compared = compareWithFile(head, file);
  const isSame =
    compared === "same" || (compared === "unknown" && (await isContent(store, key, entry)));
  return isSame ? verified : differs("has another content than the manifest says");
}

async function isContent(store: ObjectStore, key: string, { sha256 }: Entry): Promise<boolean> {
  const content = await store.open(key);
  if (content === null) return false;
  const digest = createHash("sha256");
  for await (const chunk of content.stream) digest.update(chunk);
  return digest.digest("hex") === sha256;
}
