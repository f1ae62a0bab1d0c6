import { expect, test } from "vitest";
import { contentOf, digestsOf, listAll, type Open, readAll, upload } from "./opened.ts";

export function contentContract(open: Open): void {
  test("a stored object is read back, and a second put replaces it", async () => {
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
    expect(await store.copy("absent", "b")).toMatchObject({ kind: "absent" });
    expect(await store.copy("absent", "b", 7)).toMatchObject({ kind: "absent" });
    await store.delete(["absent"]);
    expect(await listAll(store, "")).toEqual([]);
  });

  test("a put with ifAbsent leaves an existing object unchanged", async () => {
    await using opened = await open();
    const { store, another } = opened;
    expect(await store.put("m", Buffer.from("mine"), { ifAbsent: true })).toBe(true);
    expect(await another.put("m", Buffer.from("theirs"), { ifAbsent: true })).toBe(false);
    expect(String(await readAll(store, "m"))).toBe("mine");
  });

  test("exactly one of several concurrent puts with ifAbsent succeeds", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const writes = Array.from({ length: 8 }, (_, index) =>
      (index % 2 === 0 ? store : another).put("m", Buffer.from(String(index)), { ifAbsent: true }),
    );
    const results = await Promise.all(writes);
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(String(await readAll(store, "m"))).toBe(String(results.indexOf(true)));
  });

  test("the answer to a copy describes the stored object", async () => {
    await using opened = await open();
    const { store } = opened;
    const file = await upload(opened, "a", contentOf(5));
    await store.finishUpload("a", file);
    const copied = await store.copy("a", "b", 5);
    const head = await store.head("b");
    expect(copied).toMatchObject({ kind: "copied" });
    if (copied.kind !== "copied" || copied.head === null) return;
    expect(copied.head).toEqual(head);
    expect((await store.planUpload("b", file, { there: copied.head })).parts).toEqual([]);
    const other = await upload(opened, "c", contentOf(6));
    expect((await store.planUpload("b", other, { there: copied.head })).parts).toHaveLength(1);
  });

  test("a copy has the same bytes, with a checksum of the whole or of the same parts", async () => {
    await using opened = await open();
    const { store } = opened;
    const content = contentOf(2 * store.partBytes + 5);
    const file = await upload(opened, "a/big", content);
    await store.finishUpload("a/big", file);
    expect(await store.copy("a/big", "b/big copy+é")).toMatchObject({ kind: "copied" });
    expect(await readAll(store, "b/big copy+é")).toEqual(content);
    // A copy counts as uploaded: its checksum equals the file's.
    expect((await store.planUpload("b/big copy+é", file)).parts).toEqual([]);
    expect(await readAll(store, "a/big")).toEqual(content);
  });
}

/** Names of objects, in the order of their UTF-8 bytes. */
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

export function listingContract(open: Open): void {
  test("keys with any characters are listed in order, read and deleted unchanged", async () => {
    await using opened = await open();
    const { store, another } = opened;
    for (const name of names) await store.put(`n/${name}`, Buffer.from(name));
    const listed = await listAll(another, "n/");
    expect(listed.map(({ key }) => key)).toEqual(names.map((name) => `n/${name}`));
    for (const name of names) expect(String(await readAll(another, `n/${name}`))).toBe(name);
    await another.delete(names.map((name) => `n/${name}`));
    expect(await listAll(store, "")).toEqual([]);
  });

  test("a listing of several pages is complete and has only keys with the prefix", async () => {
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

  test("a store opened below a prefix sees only objects below it", async () => {
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
