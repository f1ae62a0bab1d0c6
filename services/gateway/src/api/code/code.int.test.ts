import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { openDirectoryBlobStore } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { create } from "tar";
import { afterAll, beforeAll, expect, it } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { apiLimits } from "../limits.ts";

let gateway: TestGateway;
let folder: string;

const page = "<script>alert('ü')</script>\n";
const long = "ü".repeat(apiLimits.codeFileBytesMax);
const sha256 = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

beforeAll(async () => {
  gateway = await startTestGateway();
  folder = await mkdtemp(join(tmpdir(), "code-"));
  await writeFile(join(folder, "index.html"), page);
  // The odd length makes the cut fall within a character.
  await writeFile(join(folder, "long.txt"), `x${long}`);
  await writeFile(join(folder, "weights.bin"), Buffer.concat([Buffer.alloc(1), randomBytes(64)]));
  await symlink("index.html", join(folder, "link"));
  const files = ["index.html", "long.txt", "weights.bin", "link"];
  const pack = create({ gzip: true, cwd: folder }, files);
  const packed = await buffer(pack as AsyncIterable<Buffer>);
  const digest = sha256(packed);
  const blobs = await openDirectoryBlobStore(
    join(dirname(gateway.checkpointDir), "blobs"),
    systemClock,
  );
  const pieces = (async function* () {
    yield packed;
  })();
  await blobs.put(`contexts/${digest}.tar.gz`, pieces, digest);
  const code = { contextDigest: digest, contextBytes: packed.length };
  await gateway.append("experiment-1", created(code));
  await gateway.append("experiment-2", created({}));
  const lost = created({ contextDigest: sha256("lost"), contextBytes: 1 });
  const position = await gateway.append("experiment-3", lost);
  await gateway.call("GET", `/api/v1/experiments/3?minPosition=${position}`);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const code = "/api/v1/experiments/1/files";
const file = (path: string) => gateway.call("GET", `${code}/text?path=${path}`);

it("an experiment's code is listed in pages with sizes and digests", async () => {
  const first = await gateway.call("GET", `${code}?pageSize=3`);
  expect(first.body).toMatchObject({
    items: [
      { path: "index.html", bytes: Buffer.byteLength(page), sha256: sha256(page) },
      { path: "link", link: "index.html" },
      { path: "long.txt", bytes: Buffer.byteLength(long) + 1 },
    ],
    nextPageToken: "3",
  });
  const second = await gateway.call("GET", `${code}?pageSize=3&pageToken=3`);
  expect(second.body).toMatchObject({ items: [{ path: "weights.bin", bytes: 65 }] });
  expect(second.body["nextPageToken"] ?? "").toBe("");
  const { status, body } = await gateway.call("GET", "/api/v1/experiments/2/files");
  expect({ status, items: body["items"] ?? [] }).toEqual({ status: 200, items: [] });
});

it("a file of the code is returned as text in JSON, never with a type that a browser runs", async () => {
  const { headers, body } = await file("index.html");
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(body).toMatchObject({ file: { path: "index.html", sha256: sha256(page) }, text: page });
});

it("a long file is cut off at a whole character, and a file that is not text is marked as binary", async () => {
  const { body } = await file("long.txt");
  expect(body["truncated"]).toBe(true);
  expect(body["text"]).toBe(`x${long}`.slice(0, apiLimits.codeFileBytesMax / 2));
  const weights = (await file("weights.bin")).body;
  expect(weights).toMatchObject({ binary: true, file: { bytes: 65 } });
  expect(weights["text"] ?? "").toBe("");
});

it("a link, an unknown file, missing code and an invalid token are refused with a sentence", async () => {
  const refusals = [
    await file("link"),
    await file("../../etc/passwd"),
    await gateway.call("GET", "/api/v1/experiments/3/files"),
    await gateway.call("GET", `${code}?pageToken=-1`),
    await gateway.call("GET", "/api/v1/experiments/9/files"),
  ];
  expect(refusals.map(({ status, body }) => [status, body["detail"]])).toEqual([
    [400, `"link" is a link to "index.html": ask for that file`],
    [404, `the code of experiment 1 has no file "../../etc/passwd"`],
    [404, "the code of experiment 3 is not stored any more"],
    [400, "invalid page_token"],
    [404, "there is no experiment 9"],
  ]);
});
