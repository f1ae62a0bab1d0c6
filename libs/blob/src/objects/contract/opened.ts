import { createHash } from "node:crypto";
import { expect, vi } from "vitest";
import { crc32cOf } from "../crc32c.ts";
import { partsOf } from "../files.ts";
import type {
  FileDigests,
  ListedObject,
  ObjectStore,
  PlannedRequest,
  UploadPlan,
} from "../port.ts";

export type Sent = { readonly status: number; readonly content: Uint8Array };

export type OpenedObjects = AsyncDisposable & {
  readonly store: ObjectStore;
  /** The same store, opened by another process. */
  readonly another: ObjectStore;
  /** The store, opened with credentials that have no rights. */
  readonly refused: ObjectStore;
  /** A store at an address that does not respond. */
  readonly away: ObjectStore;
  /** A store in a bucket that does not exist. */
  readonly nowhere: ObjectStore;
  /** Sends a planned request as it is, without credentials. */
  readonly send: (request: PlannedRequest, content: Uint8Array) => Promise<Sent>;
  /**
   * Sends the given bytes of a planned request, then breaks off the connection. Only for stores that plan "resumable"
   * uploads.
   */
  readonly breakOff?: (request: PlannedRequest, content: Uint8Array) => Promise<void>;
  /** Advances the clock of the store. */
  readonly wait: (ms: number) => void;
};

/** Generates bytes that differ from offset to offset, so that swapped parts are detected. */
export function contentOf(bytes: number, seed = 1): Buffer {
  const content = Buffer.alloc(bytes);
  for (let at = 0, value = seed; at < bytes; at += 1) {
    value = (Math.imul(value, 1_103_515_245) + 12_345) >>> 0;
    content[at] = value >>> 16;
  }
  return content;
}

const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

export function digestsOf(content: Buffer, partBytes: number): FileDigests {
  return {
    bytes: content.length,
    sha256: sha256(content),
    parts: partsOf(content.length, partBytes).map(({ offset, bytes }) => ({
      sha256: sha256(content.subarray(offset, offset + bytes)),
    })),
    md5: createHash("md5").update(content).digest("base64"),
    crc32c: crc32cOf(content),
  };
}

export async function readAll(store: ObjectStore, key: string): Promise<Buffer | null> {
  const content = await store.open(key);
  if (content === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.stream) chunks.push(chunk);
  const all = Buffer.concat(chunks);
  expect(all.length).toBe(content.bytes);
  return all;
}

export async function listAll(store: ObjectStore, below: string): Promise<readonly ListedObject[]> {
  const found: ListedObject[] = [];
  for await (const object of store.list(below)) found.push(object);
  return found;
}

/** Sends the first `parts` parts of a plan, in order; all parts by default. */
export async function upload(
  opened: Pick<OpenedObjects, "store" | "send" | "breakOff">,
  key: string,
  content: Buffer,
  parts = Number.POSITIVE_INFINITY,
): Promise<FileDigests> {
  const { store, send } = opened;
  const file = digestsOf(content, store.partBytes);
  const plan = await store.planUpload(key, file);
  if (plan.kind === "resumable" && parts < file.parts.length) {
    await begin(opened, key, content, plan, parts * store.partBytes);
    return file;
  }
  for (const { offset, bytes, request } of plan.parts.slice(0, parts)) {
    const { status } = await send(request, content.subarray(offset, offset + bytes));
    expect(request.accepted).toContain(status);
  }
  return file;
}

/** Sends the first bytes of a file, breaks off the request, and waits until the store has stored them. */
async function begin(
  { store, breakOff }: Pick<OpenedObjects, "store" | "breakOff">,
  key: string,
  content: Buffer,
  { parts: [part] }: UploadPlan,
  bytes: number,
): Promise<void> {
  if (part === undefined || breakOff === undefined) throw new Error("nothing can be sent");
  await breakOff(part.request, content.subarray(part.offset, bytes));
  const file = digestsOf(content, store.partBytes);
  await vi.waitFor(
    async () => expect((await store.planUpload(key, file)).parts[0]?.offset).toBe(bytes),
    { timeout: 20_000, interval: 20 },
  );
}

/** The number of bytes still to send. */
export const leftOf = ({ parts }: UploadPlan): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);

export type Open = () => Promise<OpenedObjects>;
