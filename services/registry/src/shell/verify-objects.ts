/**
 * Compares the objects of a checkpoint with its manifest by the store's metadata, without reading their bytes; in a
 * store without checksums they are read. An upload in parts becomes an object here, once all its parts are stored.
 */
import { checkpointKey, compareWithFile, type ObjectStore, problemOfStore } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { ManifestEntry } from "@trainyard/contracts/commands";
import { isFault, mapConcurrently } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import type { Inspection } from "./inspect-files.ts";
import { digestsOf } from "./upload.ts";
import type { ObjectsPlace } from "./verify.ts";
import type { Verdict } from "./verify-files.ts";

type Entry = Plain<ManifestEntry>;
/** "unknown": the store has no checksum to compare with the manifest. */
type Compared = Verdict | "unknown";

const verified: Verdict = { kind: "verified" };

/** Verifies objects; `readAgain` reads the bytes of files that the store cannot compare. */
export async function verifyObjects(
  { store, checkpoint, storageId, entries }: Omit<ObjectsPlace, "section">,
  readAgain: (unknown: Manifest) => Promise<Inspection>,
): Promise<Verdict> {
  try {
    const problem = await problemOfStore(store, storageId);
    if (problem !== null) return { kind: "unreadable", detail: problem };
    let absent: Verdict | null = null;
    // The first missing object settles the verdict: hosts that still send files ask again and again.
    const look = async (entry: Entry): Promise<Verdict | "unknown"> => {
      if (absent !== null) return absent;
      const verdict = await verifyObject(store, checkpoint, entry);
      if (verdict !== "unknown" && verdict.kind === "unreadable") absent = verdict;
      return verdict;
    };
    const compared = await mapConcurrently(entries, registryLimits.objectsAtOnce, look);
    for (const verdict of compared) {
      if (verdict !== "unknown" && verdict.kind !== "verified") return verdict;
    }
    const unknown = entries.filter((_, index) => compared[index] === "unknown");
    return unknown.length === 0 ? verified : verdictOf(await readAgain(unknown));
  } catch (error) {
    if (!isFault(error)) throw error;
    return { kind: "unreadable", detail: error.message };
  }
}

function verdictOf(inspection: Inspection): Verdict {
  if (inspection.kind === "unreadable") return inspection;
  const [problem] = inspection.problems;
  if (problem === undefined) return verified;
  return { kind: "differs", path: problem.path, detail: problem.detail };
}

async function verifyObject(
  store: ObjectStore,
  checkpoint: string,
  entry: Entry,
): Promise<Compared> {
  const key = checkpointKey(checkpoint, entry.path);
  const file = digestsOf(entry);
  const inParts = entry.bytes > store.partBytes;
  const head = inParts ? await store.finishUpload(key, file) : await store.head(key);
  // The object may still arrive: the run's end decides whether anyone still sends it.
  if (head === null) {
    return { kind: "unreadable", detail: `${JSON.stringify(entry.path)} is not stored yet` };
  }
  const differs = (detail: string): Verdict => ({ kind: "differs", path: entry.path, detail });
  if (head.bytes !== entry.bytes) {
    return differs(`has ${head.bytes} bytes, and the manifest says ${entry.bytes}`);
  }
  const compared = compareWithFile(head, file);
  if (compared === "unknown") return "unknown";
  return compared === "same" ? verified : differs("has another content than the manifest says");
}
