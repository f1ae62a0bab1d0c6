/** The contract suite of `BlobStore`: the test file of each adapter calls it. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { BlobStore } from "./port.ts";

export type OpenedStore = AsyncDisposable & { readonly store: BlobStore };

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

async function* chunksOf(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf(store: BlobStore, key: string): Promise<string | null> {
  const content = await store.get(key);
  if (content === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.stream) chunks.push(chunk);
  const text = Buffer.concat(chunks);
  expect(text.byteLength).toBe(content.bytes);
  return text.toString();
}

const badKeys = ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.b", ".incoming/x", "a\0b", "a\\b"];

export function blobStoreContract(open: () => Promise<OpenedStore>): void {
  test("a stored blob is read back in one piece", async () => {
    await using opened = await open();
    const put = await opened.store.put("contexts/a.tar", chunksOf("he", "llo"), digestOf("hello"));
    expect(put).toEqual({ bytes: 5 });
    expect(await textOf(opened.store, "contexts/a.tar")).toBe("hello");
    expect(await opened.store.stat("contexts/a.tar")).toEqual({ bytes: 5 });
  });

  test("an empty blob exists", async () => {
    await using opened = await open();
    await opened.store.put("empty", chunksOf(), digestOf(""));
    expect(await textOf(opened.store, "empty")).toBe("");
  });

  test("content with another digest is refused, and the existing blob stays", async () => {
    await using opened = await open();
    await opened.store.put("a", chunksOf("first"), digestOf("first"));
    const wrong = opened.store.put("a", chunksOf("second"), digestOf("other"));
    await expect(wrong).rejects.toMatchObject({ code: "digest_mismatch", retry: "never" });
    expect(await textOf(opened.store, "a")).toBe("first");
  });

  test("a source that breaks off leaves no blob", async () => {
    await using opened = await open();
    async function* broken(): AsyncIterable<Uint8Array> {
      yield Buffer.from("half");
      throw new Error("the upload broke off");
    }
    await expect(opened.store.put("b", broken(), digestOf("half"))).rejects.toThrow();
    expect(await opened.store.stat("b")).toBeNull();
  });

  test("repeated and concurrent puts of one blob succeed", async () => {
    await using opened = await open();
    const puts = Array.from({ length: 8 }, () =>
      opened.store.put("deep/er/c", chunksOf("same"), digestOf("same")),
    );
    expect(await Promise.all(puts)).toEqual(puts.map(() => ({ bytes: 4 })));
    expect(await textOf(opened.store, "deep/er/c")).toBe("same");
  });

  test("an absent blob reads as null, and may be deleted", async () => {
    await using opened = await open();
    expect(await opened.store.get("absent")).toBeNull();
    expect(await opened.store.stat("absent/also")).toBeNull();
    await opened.store.delete("absent");
  });

  test("a deleted blob is absent", async () => {
    await using opened = await open();
    await opened.store.put("d", chunksOf("x"), digestOf("x"));
    await opened.store.delete("d");
    expect(await opened.store.get("d")).toBeNull();
  });

  test.each(badKeys)("the invalid key %j is refused", async (key) => {
    await using opened = await open();
    const fault = { code: "invalid_key", retry: "never" };
    await expect(opened.store.put(key, chunksOf("x"), digestOf("x"))).rejects.toMatchObject(fault);
    await expect(opened.store.get(key)).rejects.toMatchObject(fault);
    await expect(opened.store.stat(key)).rejects.toMatchObject(fault);
    await expect(opened.store.delete(key)).rejects.toMatchObject(fault);
    await expect(opened.store.signedUrl(key)).rejects.toMatchObject(fault);
  });

  test("a signed address, where a store has one, has the bytes of the blob", async () => {
    await using opened = await open();
    await opened.store.put("deep/e", chunksOf("signed"), digestOf("signed"));
    const url = await opened.store.signedUrl("deep/e");
    const read =
      url === null ? await textOf(opened.store, "deep/e") : await (await fetch(url)).text();
    expect(read).toBe("signed");
  });

  test("content in many pieces is stored as one blob", async () => {
    await using opened = await open();
    const pieces = Array.from({ length: 300 }, (_, index) => String(index).repeat(100));
    const text = pieces.join("");
    const put = await opened.store.put("pieces", chunksOf(...pieces), digestOf(text));
    expect(put).toEqual({ bytes: text.length });
    expect(await textOf(opened.store, "pieces")).toBe(text);
  });
}
