import { expect, test } from "vitest";
import { contentOf, digestsOf, leftOf, type Open, readAll, upload } from "./opened.ts";

export function uploadContract(open: Open): void {
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

  test("a stored file needs no plan, and finishing it again is harmless", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const file = await upload(opened, "c/file", contentOf(1_000));
    const head = await store.finishUpload("c/file", file);
    expect((await another.planUpload("c/file", file)).parts).toEqual([]);
    expect(await another.finishUpload("c/file", file)).toEqual(head);
  });

  test("a file of the same size with other content is planned and replaces the stored one", async () => {
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

  test("content that differs from the announced digests is refused, and no object exists", async () => {
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

  test("digests with a wrong number of parts are refused", async () => {
    await using opened = await open();
    const { store } = opened;
    const file = { ...digestsOf(contentOf(1_000), store.partBytes), parts: [] };
    await expect(store.planUpload("c/file", file)).rejects.toMatchObject({ code: "wrong_digests" });
    await expect(store.finishUpload("c/file", file)).rejects.toMatchObject({
      code: "wrong_digests",
    });
  });
}

export function largeUploadContract(open: Open): void {
  test("a second process continues an upload in parts, which becomes one object", async () => {
    await using opened = await open();
    const { store, another, send } = opened;
    const content = contentOf(3 * store.partBytes + 17);
    const file = await upload(opened, "c/big", content, 2);
    expect(await store.head("c/big")).toBeNull();
    await expect(another.finishUpload("c/big", file)).rejects.toMatchObject({
      code: "upload_incomplete",
    });
    const rest = await another.planUpload("c/big", file);
    expect(rest.parts[0]?.offset).toBe(2 * store.partBytes);
    expect(leftOf(rest)).toBe(store.partBytes + 17);
    await upload({ store: another, send }, "c/big", content);
    const head = await another.finishUpload("c/big", file);
    expect(head.bytes).toBe(content.length);
    expect(head.checksum).not.toBeNull();
    expect(await store.finishUpload("c/big", file)).toEqual(head);
    expect(await readAll(store, "c/big")).toEqual(content);
    expect((await store.planUpload("c/big", file)).parts).toEqual([]);
  });

  test("no part is planned when all were sent, even before the upload is finished", async () => {
    await using opened = await open();
    const { store, another } = opened;
    const content = contentOf(2 * store.partBytes);
    const file = await upload(opened, "c/big", content);
    expect((await another.planUpload("c/big", file)).parts).toEqual([]);
    await another.finishUpload("c/big", file);
    expect(await readAll(store, "c/big")).toEqual(content);
  });

  test("a file that changes after some of its parts were sent is stored with its latest content", async () => {
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

  test("an aborted upload begins again with the first byte", async () => {
    await using opened = await open();
    const { store } = opened;
    const content = contentOf(2 * store.partBytes);
    const file = await upload(opened, "c/big", content, 1);
    await upload(opened, "d/big", content, 1);
    await store.abortUploads("c/");
    expect(leftOf(await store.planUpload("c/big", file))).toBe(2 * store.partBytes);
    expect(leftOf(await store.planUpload("d/big", file))).toBe(store.partBytes);
  });
}

export function slicedPlanContract(open: Open): void {
  test("a plan has at most the claimed parts, and the next plan has the rest", async () => {
    await using opened = await open();
    const { store, send } = opened;
    const content = contentOf(3 * store.partBytes + 17);
    const file = digestsOf(content, store.partBytes);
    const asked: number[] = [];
    const claiming = (most: number) => (parts: number) => {
      asked.push(parts);
      return most;
    };
    const none = await store.planUpload("c/big", file, { claim: claiming(0) });
    expect([none.parts, none.missing.bytes]).toEqual([[], content.length]);
    let left = none.missing;
    for (let plans = 0; left.parts > 0; plans += 1) {
      expect(plans).toBeLessThan(10);
      const { missing, parts } = await store.planUpload("c/big", file, { claim: claiming(2) });
      expect(parts.length).toBe(Math.min(missing.parts, 2));
      for (const { offset, bytes, request } of parts) {
        await send(request, content.subarray(offset, offset + bytes));
      }
      left = (await store.planUpload("c/big", file, { claim: claiming(0) })).missing;
      expect(left.bytes).toBeLessThan(missing.bytes);
    }
    expect(asked[0]).toBe(none.missing.parts);
    expect((await store.finishUpload("c/big", file)).bytes).toBe(content.length);
    const small = digestsOf(contentOf(10), store.partBytes);
    const unclaimed = await store.planUpload("c/small", small, { claim: () => 0 });
    expect(unclaimed).toMatchObject({ missing: { parts: 1, bytes: 10 }, parts: [] });
  });
}

export function planContract(open: Open): void {
  test("a file that a copy has created is complete despite an unfinished upload", async () => {
    await using opened = await open();
    const { store } = opened;
    const content = contentOf(2 * store.partBytes + 5);
    await store.finishUpload("c/source", await upload(opened, "c/source", content));
    const file = digestsOf(content, store.partBytes);
    expect((await store.planUpload("c/file", file)).parts.length).toBeGreaterThan(0);
    expect(await store.copy("c/source", "c/file")).toMatchObject({ kind: "copied" });
    expect((await store.finishUpload("c/file", file)).bytes).toBe(content.length);
    expect(await readAll(store, "c/file")).toEqual(content);
  });

  test("a planned download returns the content, and is refused for an absent object", async () => {
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

  test("a plan is valid only until its expiry", async () => {
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

  test("uploads of keys with a common beginning are kept apart", async () => {
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
