/**
 * A registry with one image of one layer, with the part of the OCI distribution specification that a pull needs, on
 * 127.0.0.1.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

type Blob = { readonly digest: string; readonly bytes: Buffer };

const manifestType = "application/vnd.oci.image.manifest.v1+json";
const configType = "application/vnd.oci.image.config.v1+json";
const layerType = "application/vnd.oci.image.layer.v1.tar+gzip";

export class TestRegistry implements AsyncDisposable {
  readonly #server: Server;
  readonly #blobs: readonly Blob[];
  readonly #manifest: Blob;
  /** The "user:password" that requests must have; empty for none. */
  wants = "";
  /** The number of requests for manifests that are answered with this status before one is served. */
  failures = { count: 0, status: 503 };
  manifestRequests = 0;

  private constructor(server: Server, tar: string) {
    this.#server = server;
    const plain = readFileSync(tar);
    const layer = blobOf(gzipSync(plain, { level: 1 }));
    const rootfs = { type: "layers", diff_ids: [blobOf(plain).digest] };
    const config = blobOf(json({ architecture: archOf(), os: "linux", rootfs, config: {} }));
    this.#blobs = [layer, config];
    const part = (blob: Blob, mediaType: string): object => {
      return { mediaType, digest: blob.digest, size: blob.bytes.length };
    };
    const parts = { config: part(config, configType), layers: [part(layer, layerType)] };
    this.#manifest = blobOf(json({ schemaVersion: 2, mediaType: manifestType, ...parts }));
  }

  static async start(tar: string): Promise<TestRegistry> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const registry = new TestRegistry(server, tar);
    server.on("request", ({ url = "", headers }, response) => {
      registry.#answer(url, headers.authorization ?? "", response);
    });
    return registry;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(url: string, authorization: string, response: ServerResponse): void {
    const isKnown = authorization === `Basic ${Buffer.from(this.wants).toString("base64")}`;
    if (this.wants !== "" && !isKnown) {
      response.setHeader("www-authenticate", 'Basic realm="test"');
      return refuse(response, 401, "UNAUTHORIZED", "authentication required");
    }
    if (url === "/v2/" || url === "/v2") return void response.writeHead(200).end("{}");
    const blob = this.#blobs.find(({ digest }) => url.endsWith(`/team/train/blobs/${digest}`));
    if (blob !== undefined) return void response.writeHead(200).end(blob.bytes);
    if (!url.includes("/manifests/")) return refuse(response, 404, "BLOB_UNKNOWN", "blob unknown");
    this.manifestRequests += 1;
    if (this.failures.count > 0) {
      this.failures.count -= 1;
      return refuse(response, this.failures.status, "UNKNOWN", "the registry is busy");
    }
    if (!url.startsWith("/v2/team/train/manifests/1")) {
      return refuse(response, 404, "MANIFEST_UNKNOWN", "manifest unknown");
    }
    response.writeHead(200, { "content-type": manifestType }).end(this.#manifest.bytes);
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(json({ errors: [{ code, message }] }));
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function blobOf(bytes: Buffer): Blob {
  return { digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`, bytes };
}

function archOf(): string {
  return process.arch === "x64" ? "amd64" : process.arch;
}
