/** What every adapter of `ObjectStore` keeps. Call it in a test file of the adapter. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { crc32cOf } from "./crc32c.ts";
import { partsOf } from "./files.ts";
import type { FileDigests, ListedObject, ObjectStore, PlannedRequest } from "./port.ts";

export type Sent = { readonly status: number; readonly content: Uint8Array };

export type OpenedObjects = AsyncDisposable & {
  readonly store: ObjectStore;
  /** What another process opens at the same place. */
  readonly another: ObjectStore;
  /** Of credentials that have no right. */
  readonly refused: ObjectStore;
  /** At an address where nothing answers. */
  readonly away: ObjectStore;
  /** In a bucket that does not exist. */
  readonly nowhere: ObjectStore;
  /** Sends a planned request as it is, without credentials. */
  readonly send: (request: PlannedRequest, content: Uint8Array) => Promise<Sent>;
  /** Puts the clock of the store forward. */
  readonly wait: (ms: number) => void;
};

/** Bytes that differ from place to place, so that parts that were exchanged are noticed. */
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

/** Sends what a plan asks for, in order; `parts` of them. */
export async function upload(
  { store, send }: Pick<OpenedObjects, "store" | "send">,
  key: string,
  content: Buffer,
  parts = Number.POSITIVE_INFINITY,
): Promise<FileDigests> {
  const file = digestsOf(content, store.partBytes);
  const plan = await store.planUpload(key, file);
  for (const { offset, bytes, request } of plan.parts.slice(0, parts)) {
    const { status } = await send(request, content.subarray(offset, offset + bytes));
    expect(request.accepted).toContain(status);
  }
  return file;
}

export function objectStoreContract(open: () => Promise<OpenedObjects>): void {
  contentContract(open);
  listingContract(open);
  uploadContract(open);
  largeUploadContract(open);
  planContract(open);
  failureContract(open);
}

type Open = () => Promise<OpenedObjects>;

function contentContract(open: Open): void {
  test("an object that was put is read back, and replaced by the next", async () => {
    await using opened = await open();
    const { store, another } = opened;
    expect(await store.put("a/marker", Buffer.from("first"))).toBe(true);
    expect(String(await readAll(another, "a/marker"))).toBe("first");
    expect(await store.put("a/marker", Buffer.from("second"))).toBe(true);
    expect(String(await readAll(another, "a/marker"))).toBe("second");
    expect(await another.head("a/marker")).toMatchObject({ bytes: 6 });
  });

  test("an absent object is null, and its deletion is no error", async () => {
    await using opened = await open();
    const { store } = opened;
    expect(await store.head("absent")).toBeNull();
    expect(await store.open("absent")).toBeNull();
    expect(await store.copy("absent", "b")).toBe("absent");
    await store.delete(["absent"]);
    expect(await listAll(store, "")).toEqual([]);
  });

  test("a write that must not replace leaves the object that is there", async () => {
    await using opened = await open();
    const { store, another } = opened;
    expect(await store.put("m", Buffer.from("mine"), { ifAbsent: true })).toBe(true);
    expect(await another.put("m", Buffer.from("theirs"), { ifAbsent: true })).toBe(false);
    expect(String(await readAll(store, "m"))).toBe("mine");
  });

  test("of several writes at the same time that must not replace, one succeeds", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const writes = Array.from({ length: 8 }, (_, index) =>
      (index % 2 === 0 ? store : another).put("m", Buffer.from(String(index)), { ifAbsent: true }),
    );
    const results = await Promise.all(writes);
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(String(await readAll(store, "m"))).toBe(String(results.indexOf(true)));
  });

  test("a copy has the bytes and a checksum of the whole or of the same parts", async () => {
    await using opened = await open();
    const { store } = opened;
    const content = contentOf(2 * store.partBytes + 5);
    const file = await upload(opened, "a/big", content);
    await store.finishUpload("a/big", file);
    expect(await store.copy("a/big", "b/big copy+é")).toBe("copied");
    expect(await readAll(store, "b/big copy+é")).toEqual(content);
    // A copy counts as uploaded: its checksum is that of the file.
    expect((await store.planUpload("b/big copy+é", file)).parts).toEqual([]);
    expect(await readAll(store, "a/big")).toEqual(content);
  });
}

/** In the order of their UTF-8. */
const names = [
  "#",
  "%41",
  "+",
  "a b",
  "a&b",
  "a'b\"",
  "a?b=c",
  "dir/x",
  "dir/y",
  "tab\there",
  "é",
  "\u{fffd}",
  "🚂",
];

function listingContract(open: Open): void {
  test("names of any characters are listed in order as they were given, read and deleted", async () => {
    await using opened = await open();
    const { store, another } = opened;
    for (const name of names) await store.put(`n/${name}`, Buffer.from(name));
    const listed = await listAll(another, "n/");
    expect(listed.map(({ key }) => key)).toEqual(names.map((name) => `n/${name}`));
    for (const name of names) expect(String(await readAll(another, `n/${name}`))).toBe(name);
    await another.delete(names.map((name) => `n/${name}`));
    expect(await listAll(store, "")).toEqual([]);
  });

  test("a listing of several pages is whole, and holds what begins with the prefix alone", async () => {
    await using opened = await open();
    const { store } = opened;
    const keys = Array.from({ length: 25 }, (_, index) => `p/${String(index).padStart(2, "0")}`);
    for (const key of [...keys, "other", "p"]) await store.put(key, Buffer.from(key));
    const listed = await listAll(store, "p/");
    expect(listed.map(({ key }) => key)).toEqual(keys);
    expect(listed[3]).toMatchObject({ key: "p/03", bytes: 4 });
    expect(listed[3]?.writtenAtMs).toBeGreaterThan(Date.UTC(2020, 1, 1));
    await store.delete(keys);
    expect((await listAll(store, "")).map(({ key }) => key)).toEqual(["other", "p"]);
  });

  test("a store opened below a prefix sees nothing beside it", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.put("a", Buffer.from("x"));
    expect(store.address).toMatch(/\/some\/prefix$/);
    expect((await listAll(store, "")).map(({ key }) => key)).toEqual(["a"]);
  });

  test.each([
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/.",
    "a\0b",
    "a\nb",
    `a/${"x".repeat(1_024)}`,
  ])("%j is no key", async (key) => {
    await using opened = await open();
    const { store } = opened;
    const fault = { code: "invalid_key", retry: "never" };
    await expect(store.head(key)).rejects.toMatchObject(fault);
    await expect(store.open(key)).rejects.toMatchObject(fault);
    await expect(store.put(key, Buffer.from("x"))).rejects.toMatchObject(fault);
    await expect(store.delete([key])).rejects.toMatchObject(fault);
    await expect(store.copy("a", key)).rejects.toMatchObject(fault);
    await expect(store.planDownload(key)).rejects.toMatchObject(fault);
    const file = digestsOf(Buffer.from("x"), store.partBytes);
    await expect(store.planUpload(key, file)).rejects.toMatchObject(fault);
  });
}

function uploadContract(open: Open): void {
  test.each([0, 1, 1_000])("a file of %i bytes is uploaded in one request", async (bytes) => {
    await using opened = await open();
    const { store, another } = opened;
    const content = contentOf(bytes);
    const file = await upload(opened, "c/file", content);
    const head = await another.finishUpload("c/file", file);
    expect(head.bytes).toBe(bytes);
    expect(head.checksum).not.toBeNull();
    expect(await readAll(store, "c/file")).toEqual(content);
  });

  test("a file that is there is not planned again, and finished again without harm", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const file = await upload(opened, "c/file", contentOf(1_000));
    const head = await store.finishUpload("c/file", file);
    expect((await another.planUpload("c/file", file)).parts).toEqual([]);
    expect(await another.finishUpload("c/file", file)).toEqual(head);
  });

  test("a file of the same size with other content is planned, and replaces what is there", async () => {
    await using opened = await open();
    const { store } = opened;
    await store.finishUpload("c/file", await upload(opened, "c/file", contentOf(1_000)));
    const other = contentOf(1_000, 2);
    const file = digestsOf(other, store.partBytes);
    await expect(store.finishUpload("c/file", file)).rejects.toMatchObject({
      code: "upload_incomplete",
    });
    await upload(opened, "c/file", other);
    await store.finishUpload("c/file", file);
    expect(await readAll(store, "c/file")).toEqual(other);
  });

  test("content that is not as it was announced is refused, and nothing is there", async () => {
    await using opened = await open();
    const { store, send } = opened;
    const file = digestsOf(contentOf(1_000), store.partBytes);
    const { parts } = await store.planUpload("c/file", file);
    const [part] = parts;
    if (part === undefined) throw new Error("nothing was planned");
    const { status } = await send(part.request, contentOf(1_000, 2));
    expect(part.request.accepted).not.toContain(status);
    expect(await store.head("c/file")).toBeNull();
    await expect(store.finishUpload("c/file", file)).rejects.toMatchObject({
      code: "upload_incomplete",
    });
  });

  test("digests of another number of parts than the file has are refused", async () => {
    await using opened = await open();
    const { store } = opened;
    const file = { ...digestsOf(contentOf(1_000), store.partBytes), parts: [] };
    await expect(store.planUpload("c/file", file)).rejects.toMatchObject({ code: "wrong_digests" });
    await expect(store.finishUpload("c/file", file)).rejects.toMatchObject({
      code: "wrong_digests",
    });
  });
}

function largeUploadContract(open: Open): void {
  test("an upload in parts goes on where another process left it, and makes one object", async () => {
    await using opened = await open();
    const { store, another, send } = opened;
    const content = contentOf(3 * store.partBytes + 17);
    const file = await upload(opened, "c/big", content, 2);
    expect(await store.head("c/big")).toBeNull();
    await expect(another.finishUpload("c/big", file)).rejects.toMatchObject({
      code: "upload_incomplete",
    });
    const rest = await another.planUpload("c/big", file);
    expect(rest.parts.map(({ offset }) => offset)).toEqual([
      2 * store.partBytes,
      3 * store.partBytes,
    ]);
    await upload({ store: another, send }, "c/big", content);
    const head = await another.finishUpload("c/big", file);
    expect(head.bytes).toBe(content.length);
    expect(head.checksum).not.toBeNull();
    expect(await store.finishUpload("c/big", file)).toEqual(head);
    expect(await readAll(store, "c/big")).toEqual(content);
    expect((await store.planUpload("c/big", file)).parts).toEqual([]);
  });

  test("what is left to send when everything was sent is nothing, also before it is finished", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const content = contentOf(2 * store.partBytes);
    const file = await upload(opened, "c/big", content);
    expect((await another.planUpload("c/big", file)).parts).toEqual([]);
    await another.finishUpload("c/big", file);
    expect(await readAll(store, "c/big")).toEqual(content);
  });

  test("a file that changed after some of its parts were sent is stored as it is now", async () => {
    await using opened = await open();
    const { store } = opened;
    const before = contentOf(2 * store.partBytes + 9);
    await upload(opened, "c/big", before, 2);
    const now = Buffer.from(before);
    now[3] = (now[3] ?? 0) ^ 1;
    const file = await upload(opened, "c/big", now);
    await store.finishUpload("c/big", file);
    expect(await readAll(store, "c/big")).toEqual(now);
  });

  test("uploads that were given up are sent from their beginning", async () => {
    await using opened = await open();
    const { store } = opened;
    const content = contentOf(2 * store.partBytes);
    const file = await upload(opened, "c/big", content, 1);
    await upload(opened, "d/big", content, 1);
    await store.abortUploads("c/");
    expect((await store.planUpload("c/big", file)).parts).toHaveLength(2);
    expect((await store.planUpload("d/big", file)).parts).toHaveLength(1);
  });

  test("uploads of several keys that begin alike are kept apart", async () => {
    await using opened = await open();
    const { store } = opened;
    const [one, two] = [contentOf(store.partBytes + 1), contentOf(store.partBytes + 1, 2)];
    const [first, second] = [
      await upload(opened, "c/big", one, 1),
      await upload(opened, "c/big.1", two, 1),
    ];
    await upload(opened, "c/big", one);
    await store.finishUpload("c/big", first);
    await expect(store.finishUpload("c/big.1", second)).rejects.toMatchObject({
      code: "upload_incomplete",
    });
    expect(await readAll(store, "c/big")).toEqual(one);
  });
}

function planContract(open: Open): void {
  test("a planned download gives the content, and of an absent object a refusal", async () => {
    await using opened = await open();
    const { store, send } = opened;
    await store.put("a/file é", Buffer.from("content"));
    const request = await store.planDownload("a/file é");
    const { status, content } = await send(request, Buffer.alloc(0));
    expect(request.accepted).toContain(status);
    expect(Buffer.from(content).toString()).toBe("content");
    const absent = await store.planDownload("absent");
    expect(absent.accepted).not.toContain((await send(absent, Buffer.alloc(0))).status);
  });

  test("a plan holds until the time that it names, and no longer", async () => {
    await using opened = await open();
    const { store, send, wait } = opened;
    const content = contentOf(100);
    await store.put("there", content);
    const download = await store.planDownload("there");
    const [part] = (await store.planUpload("new", digestsOf(content, store.partBytes))).parts;
    if (part === undefined) throw new Error("nothing was planned");
    wait(part.request.expiresAtMs - Date.now() + 60_000);
    expect(download.accepted).not.toContain((await send(download, Buffer.alloc(0))).status);
    expect(part.request.accepted).not.toContain((await send(part.request, content)).status);
    const [renewed] = (await store.planUpload("new", digestsOf(content, store.partBytes))).parts;
    if (renewed === undefined) throw new Error("nothing was planned");
    expect(renewed.request.accepted).toContain((await send(renewed.request, content)).status);
  });
}

function failureContract(open: Open): void {
  const everyCall = (
    store: ObjectStore,
  ): readonly (readonly [string, () => Promise<unknown>])[] => {
    const small = digestsOf(contentOf(10), store.partBytes);
    const large = digestsOf(contentOf(store.partBytes + 1), store.partBytes);
    return [
      ["head", () => store.head("a")],
      ["open", () => store.open("a")],
      ["put", () => store.put("a", Buffer.from("x"))],
      ["put if absent", () => store.put("a", Buffer.from("x"), { ifAbsent: true })],
      ["list", () => listAll(store, "")],
      ["delete", () => store.delete(["a"])],
      ["copy", () => store.copy("a", "b")],
      ["planUpload", () => store.planUpload("a", large)],
      ["finishUpload", () => store.finishUpload("a", small)],
      ["finishUpload of parts", () => store.finishUpload("a", large)],
      ["abortUploads", () => store.abortUploads("")],
    ];
  };

  async function expectEveryCall(store: ObjectStore, fault: object): Promise<void> {
    for (const [name, call] of everyCall(store)) {
      const thrown = await call().then(
        () => null,
        (error: unknown) => error,
      );
      expect(thrown, name).toMatchObject(fault);
    }
  }

  test("a refusal is never absence", async () => {
    await using opened = await open();
    await opened.store.put("a", Buffer.from("x"));
    await expectEveryCall(opened.refused, { code: "storage_refused", retry: "never" });
    expect(String(await readAll(opened.store, "a"))).toBe("x");
  });

  test("a bucket that does not exist is never an absent object", async () => {
    await using opened = await open();
    await expectEveryCall(opened.nowhere, { code: "bucket_not_found", retry: "never" });
  });

  test("a store that is away may be there later", async () => {
    await using opened = await open();
    await expectEveryCall(opened.away, { code: "storage_away", retry: "later" });
  });
}
