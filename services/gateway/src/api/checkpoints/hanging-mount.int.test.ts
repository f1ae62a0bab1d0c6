/** The gateway while a mount hangs: each call of the file system returns when the server of the mount is back. */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { openDirectoryBlobStore } from "@trainyard/blob";
import { openHangingDisk } from "@trainyard/blob/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { create } from "tar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiLimits } from "../limits.ts";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const disk = openHangingDisk(systemClock);
const mine = randomUUID();
const manifest = [{ path: "weights", bytes: 1, sha256: "0".repeat(64), partSha256: [], md5: "" }];

let gateway: TestGateway;
let url = "";
let position = 0;
let registry: AsyncDisposable;
/** The root that hangs, and one that answers. */
let roots: readonly string[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  url = await gateway.startAnother({ disk });
  roots = ["hanging", "good"].map((name) => join(gateway.checkpointDir, name));
  for (const root of roots) await mkdir(join(root, mine), { recursive: true });
  for (const root of roots) await writeFile(join(root, mine, "weights"), "w");
  const folder = await mkdtemp(join(tmpdir(), "trainyard-code-"));
  await writeFile(join(folder, "train.py"), "");
  const packed = await buffer(
    create({ gzip: true, cwd: folder }, ["train.py"]) as AsyncIterable<Buffer>,
  );
  await rm(folder, { recursive: true });
  const digest = createHash("sha256").update(packed).digest("hex");
  const blobs = await openDirectoryBlobStore(gateway.blobDir, systemClock);
  await blobs.put(`contexts/${digest}.tar.gz`, Readable.from([packed]), digest);
  const code = { contextDigest: digest, contextBytes: packed.length };
  position = await gateway.append("experiment-1", created(code));
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint }) => ({
      checkpoint,
      path: join(roots[checkpoint === mine ? 1 : 0] ?? "", checkpoint),
      store: "",
      manifest,
    }),
  });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  disk[Symbol.dispose]();
});

const get = (path: string) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${gateway.token}` } });
const download = (checkpoint: string) => get(`/api/v1/checkpoints/${checkpoint}/archive`);

test("downloads from a mount that hangs are unavailable and name it, and delay no other storage and no model code", async () => {
  const hanging = Array.from({ length: 4 }, () => download(randomUUID()));
  let answered = 0;
  for (const one of hanging) void one.finally(() => (answered += 1));
  const good = await download(mine);
  expect(good.status).toBe(200);
  expect((await good.arrayBuffer()).byteLength).toBeGreaterThan(0);
  await get(`/api/v1/experiments/1?minPosition=${position}`);
  const code = await get("/api/v1/experiments/1/files");
  expect(code.status).toBe(200);
  expect(answered).toBe(0);
  for (const answer of await Promise.all(hanging)) {
    expect(answer.status).toBe(503);
    const { detail } = (await answer.json()) as { readonly detail: string };
    expect(detail).toContain(roots[0]);
  }
  const started = performance.now();
  expect((await download(randomUUID())).status).toBe(503);
  expect(performance.now() - started).toBeLessThan(apiLimits.storages.seenMs);
});
