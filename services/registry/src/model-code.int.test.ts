import { createHash } from "node:crypto";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openDirectoryBlobStore } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
});
afterAll(() => registry[Symbol.asyncDispose]());

const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });

describe("model code", () => {
  const code = "packed code";
  const digest = createHash("sha256").update(code).digest("hex");
  const ask = (asked: string) =>
    registry.stage.ask("registry", "PlanContextDownload", { digest: asked });

  beforeAll(async () => {
    const blobs = await openDirectoryBlobStore(join(registry.folder, "blobs"), systemClock);
    async function* content() {
      yield Buffer.from(code);
    }
    await blobs.put(`contexts/${digest}.tar.gz`, content(), digest);
  });

  test("is fetched at the planned address", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    const response = await fetch(plan.reply.url);
    expect([response.status, await response.text()]).toEqual([200, code]);
    expect(response.headers.get("content-length")).toBe(String(code.length));
  });

  test("that was deleted and stored again has another address, and the old file is not fetched", async () => {
    const again = createHash("sha256").update("again").digest("hex");
    const stream = `content-contexts.${again}`;
    await registry.stage.tell(
      stream,
      { type: "ContentDeletionStarted", data: {} },
      { type: "ContentDeleted", data: {} },
    );
    const blobs = await openDirectoryBlobStore(join(registry.folder, "blobs"), systemClock);
    const stored = async (key: string) => {
      await blobs.put(key, Readable.from([Buffer.from("again")]), again);
    };
    await stored(`contexts/${again}.tar.gz`);
    expect(await ask(again)).toMatchObject(rejectedAs("context_not_found"));
    await stored(`contexts/${again}.1.tar.gz`);
    const plan = await ask(again);
    if (plan.kind !== "ok") throw new Error("no plan");
    expect(await (await fetch(plan.reply.url)).text()).toBe("again");
  });

  test("is served at no other address", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    const statusOf = async (change: (url: URL) => void) => {
      const url = new URL(plan.reply.url);
      change(url);
      return (await fetch(url)).status;
    };
    expect(await statusOf((url) => url.searchParams.delete("signature"))).toBe(403);
    expect(await statusOf((url) => url.searchParams.set("expires", "9999999999999"))).toBe(403);
    expect(await statusOf((url) => (url.pathname = `/contexts/${"0".repeat(64)}.tar.gz`))).toBe(
      403,
    );
    expect(await statusOf((url) => (url.pathname = "/contexts/../../etc/passwd"))).toBe(404);
  });

  test.each(["0".repeat(64), "../x", ""])("%j is unknown", async (unknown) => {
    expect(await ask(unknown)).toMatchObject(rejectedAs("context_not_found"));
  });
});
