import { performance } from "node:perf_hooks";
import { expect, test } from "vitest";
import { type BodyText, readBodyText } from "./body-text.ts";
import { BodyThread } from "./body-thread.ts";

const textOf = (json: unknown): BodyText => ({
  body: Buffer.from(JSON.stringify(json)),
  prefix: "POST\n/path\n",
  byteFields: ["context"],
});

test("a body that is parsed in the thread has the same JSON, bytes and digest as one parsed directly", async () => {
  await using thread = new BodyThread();
  for (const json of [
    { config: "a: ü", context: Buffer.from("packed").toString("base64"), paused: true },
    { config: "a", context: "_-8", nested: { context: "stays" } },
    [1, null],
    { context: 7 },
  ]) {
    const here = readBodyText(textOf(json));
    expect(await thread.read(textOf(json))).toEqual(here);
  }
  const { bytes, json, digest } = readBodyText(textOf({ context: "cGFja2Vk", a: 1 })) as {
    bytes: Record<string, Uint8Array>;
    json: object;
    digest: string;
  };
  expect(Buffer.from(bytes["context"] ?? []).toString()).toBe("packed");
  expect(json).toEqual({ a: 1 });
  // Every version of the gateway must compute this digest of the method, the path and the whole body.
  expect(digest).toBe("018d8224c5a1c639ff7a001f6aaa5260bd277e6243f1f8888a8ed85782f63f58");
});

test("the thread refuses a body that is not JSON, not base64 or nested too deep", async () => {
  await using thread = new BodyThread();
  const raw = (text: string): BodyText => ({ ...textOf(null), body: Buffer.from(text) });
  expect(await thread.read(raw("{"))).toMatchObject({ kind: "refused" });
  expect(await thread.read(raw('{"context":"a b"}'))).toEqual({
    kind: "refused",
    detail: "context is not base64",
  });
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  expect(await thread.read(raw(deep))).toMatchObject({ kind: "refused" });
  expect(await thread.read(raw("{}"))).toMatchObject({ kind: "read" });
});

test("a body of millions of small values is refused before it is parsed", async () => {
  await using thread = new BodyThread();
  const body = Buffer.from(`{"config":[${"{},".repeat(20_000_000)}{}]}`);
  const before = process.resourceUsage().maxRSS;
  expect(await thread.read({ ...textOf(null), body })).toEqual({
    kind: "refused",
    detail: "the body has more than 500000 commas and brackets",
  });
  // Parsed, the values take more than a GiB.
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(400);
});

test("the event loop stays free while the thread parses a large body", async () => {
  await using thread = new BodyThread();
  await thread.read(textOf({}));
  const text = textOf({ context: Buffer.alloc(48 * 1024 * 1024, 7).toString("base64") });
  const before = performance.eventLoopUtilization();
  await thread.read(text);
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
});
