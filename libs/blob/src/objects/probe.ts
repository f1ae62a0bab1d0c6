/** Tests with a probe object which required operations a store allows, and reports the refused ones. */
import { createHash, randomUUID } from "node:crypto";
import { type Fault, isFault } from "@trainyard/kernel";
import { crc32cOf } from "./crc32c.ts";
import { compareWithFile, partsOf } from "./files.ts";
import type { FileDigests, ObjectStore } from "./port.ts";

export type ProbedAction = "write" | "write once" | "read" | "list" | "upload in parts" | "delete";

export type ObjectStoreProbe = {
  /** Empty if checkpoints can be stored. */
  readonly problems: readonly { readonly action: ProbedAction; readonly detail: string }[];
  /**
   * Whether the store verifies and keeps a checksum. Without one, stored bytes can be verified only by reading them.
   * Null if the probe could not determine it.
   */
  readonly keepsChecksums: boolean | null;
};

/**
 * Probes a store. A refused action becomes a problem. Any obstacle to the probe (an unavailable store, an absent
 * bucket, missing credentials) is thrown unchanged as its Fault. The probe object is deleted unless deletion itself is
 * refused.
 */
export async function probeObjectStore(store: ObjectStore): Promise<ObjectStoreProbe> {
  const key = `.trainyard-probe-${randomUUID()}`;
  const content = Buffer.from(`A probe of Trainyard: it may be deleted.\n${key}\n`);
  const problems: { action: ProbedAction; detail: string }[] = [];
  const attempt = async <T>(action: ProbedAction, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      problems.push({ action, detail: error.message });
      return null;
    }
  };
  const isWritten = await attempt("write", () => store.put(key, content));
  if (isWritten === true) {
    const again = await attempt("write once", () => store.put(key, content, { ifAbsent: true }));
    if (again === true) {
      const detail = `${store.address} replaces an existing object despite "if absent": hosts that mark a storage at the same time could not agree`;
      problems.push({ action: "write once", detail });
    }
  }
  const isRead = isWritten === true && (await attempt("read", () => reads(store, key, content)));
  if (isRead === false && isWritten === true) {
    const detail = `${store.address} returns other content than was written`;
    problems.push({ action: "read", detail });
  }
  await attempt("list", () => exhaust(store, key));
  await attempt("upload in parts", () => beginUpload(store, `${key}-parts`));
  const keepsChecksums = isRead === true ? await hasChecksum(store, key, content) : null;
  if (isWritten === true) await attempt("delete", () => store.delete([key]));
  return { problems, keepsChecksums };
}

function isRefusal(error: unknown): error is Fault {
  return isFault(error) && error.code === "storage_refused";
}

async function reads(store: ObjectStore, key: string, content: Buffer): Promise<boolean> {
  const found = await store.open(key);
  if (found === null) return false;
  const chunks: Uint8Array[] = [];
  for await (const chunk of found.stream) chunks.push(chunk);
  return Buffer.concat(chunks).equals(content);
}

async function exhaust(store: ObjectStore, below: string): Promise<void> {
  for await (const { key } of store.list(below)) if (key === below) return;
}

/** Needs the permissions to begin, list and abort an upload, like an upload that resumes after a crash. */
async function beginUpload(store: ObjectStore, key: string): Promise<void> {
  const bytes = store.partBytes + 1;
  const file = {
    bytes,
    sha256: digestOf(""),
    parts: partsOf(bytes, store.partBytes).map(() => ({ sha256: digestOf("") })),
    crc32c: "",
    md5: createHash("md5").digest("base64"),
  };
  await store.planUpload(key, file, { absent: true });
  await store.abortUploads(key);
}

async function hasChecksum(store: ObjectStore, key: string, content: Buffer): Promise<boolean> {
  const head = await store.head(key);
  const sha256 = digestOf(content);
  const md5 = createHash("md5").update(content).digest("base64");
  const digests = { md5, crc32c: crc32cOf(content) };
  const file: FileDigests = { bytes: content.length, sha256, parts: [{ sha256 }], ...digests };
  return head !== null && compareWithFile(head, file) === "same";
}

const digestOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");
