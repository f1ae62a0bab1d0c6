/** Downloads of a checkpoint whose files are in an object store. The store is a server that the test starts. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openStream, restOf } from "../../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const checkpoint = "11111111-2222-4333-8444-555555555555";
const path = `/api/v1/checkpoints/${checkpoint}/archive`;
const contents = new Map([
  ["weights", "the weights"],
  ["empty", ""],
  ["deep/step", "7"],
]);
const stored = new Map<string, string>();
let refusal: number | null = null;

const store = createServer((request, response) => {
  const content = stored.get(decodeURIComponent((request.url ?? "").slice(1)));
  const isPart = request.headers.range !== undefined;
  if (refusal !== null) response.writeHead(refusal).end();
  else if (content === undefined) response.writeHead(404).end();
  else if (isPart && content === "") response.writeHead(416).end();
  else response.writeHead(isPart ? 206 : 200).end(isPart ? content[0] : content);
});

let gateway: TestGateway;
let registry: AsyncDisposable;

beforeAll(async () => {
  await new Promise<void>((ready) => store.listen(0, "127.0.0.1", ready));
  const { port } = store.address() as AddressInfo;
  gateway = await startTestGateway();
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint: id }) => ({
      ...{ checkpoint: id, path: "", store: "s3://models" },
      manifest: [...contents].map(([name, { length: bytes }]) => ({
        ...{ path: name, bytes, sha256: "0".repeat(64), partSha256: [], md5: "" },
      })),
    }),
    PlanFiles: async ({ paths }) => ({
      files: paths.map((name) => {
        const url = `http://127.0.0.1:${port}/${encodeURIComponent(name)}`;
        return { path: name, request: { url, method: "GET", headers: {}, validMs: 60_000 } };
      }),
    }),
  });
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  store.close();
});

beforeEach(() => {
  refusal = null;
  for (const [name, content] of contents) stored.set(name, content);
});

test("a download has every file of the object store", async () => {
  const packed = await restOf(await openStream(gateway, path));
  const text = gunzipSync(packed).toString();
  for (const part of ["deep/step", "the weights", "empty"]) expect(text).toContain(part);
});

test("a download of a checkpoint whose object is gone is refused with the names of both, before it begins", async () => {
  stored.delete("deep/step");
  const answer = await gateway.call("GET", path);
  expect(answer).toMatchObject({ status: 409, body: { code: "checkpoint_damaged" } });
  expect(answer.body["detail"]).toContain('has no file "deep/step"');
  expect(answer.body["detail"]).toContain(`checkpoint ${checkpoint}`);
});

test("a download from a store that refuses is unavailable, and the answer says what the store answered", async () => {
  refusal = 503;
  const answer = await gateway.call("GET", path);
  expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(answer.body["detail"]).toContain("answered 503");
});
