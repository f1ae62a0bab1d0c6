import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readlink, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, openDirectoryBlobStore } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry } from "@trainyard/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTelemetry } from "../telemetry.ts";
import { startHttpServer } from "./http.ts";
import { signedContextPath } from "./signed-urls.ts";

const urlKey = Buffer.alloc(32, 7);
/** Larger than all buffers between a file and a client that does not read. */
const code = randomBytes(24 * 1024 * 1024);
const digest = createHash("sha256").update(code).digest("hex");
const key = `contexts/${digest}.tar.gz`;

let scratch: string;
let stack: AsyncDisposableStack;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-registry-http-"));
  stack = new AsyncDisposableStack();
});

afterEach(async () => {
  await stack.disposeAsync();
  await rm(scratch, { recursive: true, force: true });
});

async function serve(blobs: BlobStore): Promise<string> {
  const registry = createRegistry("registry");
  const events = createTelemetry(registry, createLogger("registry", "silent"));
  const health = { readiness: () => null };
  const deps = { blobs, clock: systemClock, urlKey, events, registry, health };
  return stack.use(await startHttpServer(deps, { host: "127.0.0.1", port: 0 })).address;
}

function open(address: string): Promise<IncomingMessage> {
  const url = `${address}${signedContextPath(urlKey, key, systemClock.nowMs())}`;
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, resolve).on("error", reject);
  });
}

async function bytesOf(stream: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) bytes += chunk.length;
  return bytes;
}

async function openFiles(): Promise<readonly string[]> {
  const fds = await readdir("/proc/self/fd");
  const places = await Promise.all(
    fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  return places.filter((place) => place.startsWith(scratch));
}

const served = async (address: string) => (await fetch(`${address}/livez`)).status;

async function withCode(): Promise<BlobStore> {
  const blobs = await openDirectoryBlobStore(scratch, systemClock);
  async function* content(): AsyncGenerator<Buffer> {
    yield code;
  }
  await blobs.put(key, content(), digest);
  return blobs;
}

test("a model code download whose client disconnects closes its file, and does not affect other requests", async () => {
  const address = await serve(await withCode());
  const stream = await open(address);
  expect(await openFiles()).toHaveLength(1);
  stream.destroy();
  await vi.waitFor(async () => expect(await openFiles()).toEqual([]), 90_000);
  expect(await served(address)).toBe(200);
  expect(await bytesOf(await open(address))).toBe(code.length);
  await vi.waitFor(async () => expect(await openFiles()).toEqual([]), 90_000);
});

test("a model code download whose file cannot be read to its end is cut off, and does not affect other requests", async () => {
  const blobs = await withCode();
  let closed = 0;
  async function* halfOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of stream) {
        yield chunk;
        throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" });
      }
    } finally {
      closed += 1;
    }
  }
  const address = await serve({
    put: (...asked) => blobs.put(...asked),
    stat: (key) => blobs.stat(key),
    delete: (key) => blobs.delete(key),
    signedUrl: (key) => blobs.signedUrl(key),
    get: async (key) => {
      const content = await blobs.get(key);
      return content === null ? null : { ...content, stream: halfOf(content.stream) };
    },
  });
  await expect(bytesOf(await open(address))).rejects.toThrow("aborted");
  expect(closed).toBe(1);
  await vi.waitFor(async () => expect(await openFiles()).toEqual([]), 90_000);
  expect(await served(address)).toBe(200);
});
