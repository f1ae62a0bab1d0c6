import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

const script = `console.log(${JSON.stringify("x".repeat(5_000))});`;
const index = `<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">
<script type="module" nonce="__CSP_NONCE__" src="/assets/index-1.js"></script>`;

let folder = "";
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-pages-"));
  gateway = await startTestGateway({ TRAINYARD_WEB_DIR: join(folder, "web") });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function build(): Promise<void> {
  const made = join(folder, "made");
  await mkdir(join(made, "assets"), { recursive: true });
  await writeFile(join(made, "index.html"), index);
  await writeFile(join(made, "icon.svg"), "<svg/>");
  await writeFile(join(made, "assets", "index-1.js"), script);
  await writeFile(join(made, "assets", "built-1.js"), "plain");
  await writeFile(join(made, "assets", "built-1.js.br"), "abc");
  await writeFile(join(folder, "secret.txt"), "a secret");
  await symlink(join(folder, "secret.txt"), join(made, "assets", "link.txt"));
  await symlink(folder, join(made, "assets", "folder"));
  await rename(made, join(folder, "web"));
}

/** Sends the path unchanged: `fetch` would resolve `..` first. */
function get(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET",
): Promise<{ readonly status: number; readonly headers: Headers; readonly bytes: Buffer }> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers: answered } = response;
        const entries = Object.entries(answered).map(([name, value]) => [name, String(value)]);
        const names = new Headers(entries as [string, string][]);
        resolve({ status, headers: names, bytes: Buffer.concat(chunks) });
      });
    });
    sent.on("error", reject).end();
  });
}

test("the status page is served until the Web UI is built, and then the Web UI", async () => {
  expect((await get("/")).bytes.toString()).toContain("This cluster is");
  expect((await get("/experiments/1")).status).toBe(404);
  await build();
  expect((await get("/")).bytes.toString()).toContain("/assets/index-1.js");
});

describe("a page of the Web UI", () => {
  it("has a policy with a new nonce, and is not cached", async () => {
    const nonces = new Set<string>();
    for (const path of ["/", "/experiments/1?tab=logs", "/index.html"]) {
      const { headers, bytes } = await get(path);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      const policy = headers.get("content-security-policy") ?? "";
      const nonce = /script-src 'self' 'nonce-([\w-]{22})'/.exec(policy)?.[1] ?? "";
      expect(policy).toBe(
        [
          "default-src 'none'",
          `script-src 'self' 'nonce-${nonce}'`,
          `style-src 'self' 'nonce-${nonce}'`,
          "img-src 'self' data:",
          "connect-src 'self'",
          "worker-src 'self'",
          "font-src 'self'",
          "base-uri 'none'",
          "form-action 'self'",
          "frame-ancestors 'none'",
        ].join("; "),
      );
      expect(bytes.toString()).toBe(index.replaceAll("__CSP_NONCE__", nonce));
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
  });

  it("is served at every address outside of the API, also to links from other sites", async () => {
    for (const path of ["/models/resnet.v2", "/apis", "/%E2%82%AC", "/a/../b"]) {
      expect((await get(path, { "sec-fetch-site": "cross-site" })).status).toBe(200);
    }
    expect(await get("/experiments", {}, "HEAD")).toMatchObject({
      status: 200,
      bytes: Buffer.of(),
    });
    for (const path of ["/api/v1/nothing", "/api", "/livez/x", "/metrics/x", "/assets/old-1.js"]) {
      const { status, headers } = await get(path);
      expect(status).toBe(404);
      expect(headers.get("content-type")).toContain("application/problem+json");
    }
    expect((await get("/experiments", {}, "POST")).status).toBe(404);
    expect((await get("/%zz")).status).toBe(400);
    expect((await get("/readyz")).bytes.toString()).not.toContain("html");
  });
});

describe("a file of the Web UI", () => {
  it("is compressed as the client accepts it, by the build or by the gateway", async () => {
    const path = "/assets/index-1.js";
    const brotli = await get(path, { "accept-encoding": "gzip, deflate, br" });
    expect(brotli.headers.get("content-encoding")).toBe("br");
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(script);
    const gzip = await get(path, { "accept-encoding": "gzip, br;q=0" });
    expect(gunzipSync(gzip.bytes).toString()).toBe(script);
    const plain = await get(path);
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("vary")).toBe("accept-encoding");
    expect(plain.bytes.toString()).toBe(script);
    const built = await get("/assets/built-1.js", { "accept-encoding": "br" });
    expect(built.bytes.toString()).toBe("abc");
    expect((await get("/assets/built-1.js.br")).status).toBe(404);
  });

  it("with a digest in its name is cached forever, and others until they change", async () => {
    const hashed = await get("/assets/index-1.js");
    expect(hashed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(hashed.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const icon = await get("/icon.svg");
    expect(icon.headers.get("cache-control")).toBe("no-cache");
    expect(icon.headers.get("content-security-policy")).toContain("script-src 'self';");
    const again = await get("/icon.svg", { "if-none-match": icon.headers.get("etag") ?? "" });
    expect(again).toMatchObject({ status: 304, bytes: Buffer.of() });
  });

  it("outside of the folder is not served, neither by a path nor by a link", async () => {
    for (const path of [
      "/assets/link.txt",
      "/assets/folder/secret.txt",
      "/assets/../../secret.txt",
      "/assets/..%2f..%2fsecret.txt",
      "/assets/%2e%2e/%2e%2e/secret.txt",
      "//../secret.txt",
    ]) {
      expect((await get(path)).bytes.toString()).not.toContain("a secret");
    }
  });
});

test("a page that is opened at localhost moves to 127.0.0.1, for whose name no task's page can set cookies", async () => {
  const moved = await get("/experiments/1?tab=logs", { host: "localhost:8080" });
  expect([moved.status, moved.headers.get("location")]).toEqual([
    307,
    "http://127.0.0.1:8080/experiments/1?tab=logs",
  ]);
  const { status } = await get("/", { host: "localhost:8080", "x-forwarded-proto": "https" });
  expect(status).toBe(200);
  expect((await get("/assets/built-1.js", { host: "localhost:8080" })).status).toBe(200);
});
