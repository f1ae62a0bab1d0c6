/** Callers that read code which unpacks to much more than it has packed. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { openDirectoryBlobStore, refusalOfModelCode } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Header } from "tar";
import { expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

/** An archive of files of zeros, each of 16 MiB. */
function zeros(files: number): Buffer {
  const size = 16 * 1024 * 1024;
  const entries = Array.from({ length: files }, (_, n) => {
    const block = Buffer.alloc(512);
    new Header({ path: `zeros-${n}`, type: "File", mode: 0o644, size }).encode(block);
    return gzipSync(block);
  });
  const content = gzipSync(Buffer.alloc(size));
  return Buffer.concat([
    ...entries.flatMap((header) => [header, content]),
    gzipSync(Buffer.alloc(1024)),
  ]);
}

async function store(gateway: TestGateway, experiment: string, packed: Buffer): Promise<void> {
  expect(await refusalOfModelCode(Readable.from([packed]))).toBeNull();
  const digest = createHash("sha256").update(packed).digest("hex");
  const blobs = await openDirectoryBlobStore(gateway.blobDir, systemClock);
  await blobs.put(`contexts/${digest}.tar.gz`, Readable.from([packed]), digest);
  const code = { contextDigest: digest, contextBytes: packed.length };
  const position = await gateway.append(`experiment-${experiment}`, created(code));
  await gateway.call("GET", `/api/v1/experiments/${experiment}?minPosition=${position}`);
}

test("a caller that reads much code delays no other caller for long", async () => {
  await using gateway = await startTestGateway();
  await store(gateway, "1", zeros(6));
  await store(gateway, "2", zeros(1));
  const { body } = await gateway.call("POST", "/api/v1/tokens", { body: { label: "other" } });
  const order: string[] = [];
  const files = (experiment: string) => `/api/v1/experiments/${experiment}/files`;
  // The list of the code is kept, but each text is unpacked again.
  await gateway.call("GET", files("1"));
  const many = Array.from({ length: 8 }, async () => {
    await gateway.call("GET", `${files("1")}/text?path=zeros-0`);
    order.push("many");
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const token = String(body["secret"]);
  const { status } = await gateway.call("GET", `${files("2")}/text?path=zeros-0`, { token });
  order.push("other");
  await Promise.all(many);
  expect(status).toBe(200);
  expect(order.indexOf("other"), order.join(" ")).toBeLessThan(4);
}, 300_000);
