import { expect, test } from "vitest";
import type { ObjectStore } from "../port.ts";
import { contentOf, digestsOf, listAll, type Open, readAll } from "./opened.ts";

export function failureContract(open: Open): void {
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

  test("a refused request never counts as absence", async () => {
    await using opened = await open();
    await opened.store.put("a", Buffer.from("x"));
    await expectEveryCall(opened.refused, { code: "storage_refused", retry: "never" });
    expect(String(await readAll(opened.store, "a"))).toBe("x");
  });

  test("a missing bucket never counts as an absent object", async () => {
    await using opened = await open();
    await expectEveryCall(opened.nowhere, { code: "bucket_not_found", retry: "never" });
  });

  test("an unavailable store is a Fault with retry later", async () => {
    await using opened = await open();
    await expectEveryCall(opened.away, { code: "storage_away", retry: "later" });
  });
}
