/** Serves the Web UI. Each page has a policy by which the browser loads and runs nothing from elsewhere. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@trainyard/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { cameByHttps } from "./session-cookie.ts";
import { type Encoding, readWebFiles, type WebFile, type WebFiles } from "./web-files.ts";

/** Vite writes this placeholder where a nonce belongs. */
const noncePlaceholder = "__CSP_NONCE__";

export class WebPages {
  /** The folder of the Web UI. It becomes null after a failed read, so that not every request reads it again. */
  #folder: string | null;
  readonly #logger: Logger;
  #pages: WebFiles | null = null;
  #reading: Promise<void> | null = null;

  /** A null `folder` is a gateway without the Web UI. */
  constructor(folder: string | null, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Reads the folder unless that was done: it may be built after the gateway's start. Never throws. */
  async look(): Promise<void> {
    if (this.#folder === null || this.#pages !== null) return;
    this.#reading ??= this.#read(this.#folder).finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  async #read(folder: string): Promise<void> {
    try {
      this.#pages = await readWebFiles(folder);
      if (this.#pages !== null) this.#logger.info({ folder }, "pages_served");
    } catch (error) {
      this.#folder = null;
      this.#logger.error({ err: error, folder }, "pages_unreadable");
    }
  }

  /** Answers with a file, or with index.html for a page's address. Returns false if nothing is served at the path. */
  serve(request: FastifyRequest, reply: FastifyReply): boolean {
    const pages = this.#pages;
    const path = pathOf(request.url);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (pages === null || path === null || !isRead || isOfApi(path)) return false;
    const file = pages.files.get(path);
    if (file !== undefined) sendFile(request, reply, path, file);
    // A missing asset, perhaps of an earlier build, is not a page.
    else if (path.startsWith("/assets/")) return false;
    else if (isLocalhost(request.headers)) moveToAddress(request, reply);
    else sendIndex(reply, pages.index);
    return true;
  }
}

/** Returns the decoded path; null if it is invalid. */
function pathOf(url: string): string | null {
  try {
    return decodeURIComponent(url.split("?")[0] ?? "");
  } catch {
    // The path has an invalid percent encoding.
    return null;
  }
}

const isOfApi = (path: string): boolean => /^\/(api|livez|readyz|metrics)(\/|$)/.test(path);

function sendIndex(reply: FastifyReply, index: string): void {
  const nonce = randomBytes(16).toString("base64url");
  withPolicy(reply, nonce)
    .header("cache-control", "no-store")
    .type("text/html; charset=utf-8")
    .send(index.replaceAll(noncePlaceholder, nonce));
}

/** Whether a browser on this machine uses the name that is above the hosts of tasks. */
function isLocalhost(headers: IncomingHttpHeaders): boolean {
  return /^localhost(:|$)/i.test(headers.host ?? "") && !cameByHttps(headers);
}

/**
 * Moves a page from localhost to 127.0.0.1. The page of a task at t12.localhost may set cookies for localhost, but not
 * for an address.
 */
function moveToAddress({ headers, url }: FastifyRequest, reply: FastifyReply): void {
  const port = /:[0-9]+$/.exec(headers.host ?? "")?.[0] ?? "";
  reply.redirect(`http://127.0.0.1${port}${url}`, 307);
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { contentType, etag, bytes, compressed }: WebFile,
): void {
  // The name of a file in assets/ has a digest, so its content never changes.
  const isHashed = path.startsWith("/assets/");
  const caching = isHashed ? "public, max-age=31536000, immutable" : "no-cache";
  withPolicy(reply, "").header("cache-control", caching).header("vary", "accept-encoding");
  if (!isHashed) {
    reply.header("etag", etag);
    if (request.headers["if-none-match"] === etag) {
      reply.status(304).send();
      return;
    }
  }
  const encoding = encodingOf(String(request.headers["accept-encoding"] ?? ""), compressed);
  if (encoding !== null) reply.header("content-encoding", encoding);
  reply.type(contentType).send(encoding === null ? bytes : compressed[encoding]);
}

/** Returns the best compression that exists and that the client accepts. */
function encodingOf(accepted: string, compressed: WebFile["compressed"]): Encoding | null {
  const taken = accepted
    .split(",")
    .filter((one) => !/;\s*q=0(\.0*)?\s*$/.test(one))
    .map((one) => one.split(";")[0]?.trim().toLowerCase());
  const best = (["br", "gzip"] as const).find(
    (one) => compressed[one] !== undefined && taken.includes(one),
  );
  return best ?? null;
}

/**
 * Sets the content security policy. A file that is not a page has no nonce: opened by itself, it can run only files of
 * this server.
 */
function withPolicy(reply: FastifyReply, nonce: string): FastifyReply {
  const own = nonce === "" ? "'self'" : `'self' 'nonce-${nonce}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
  return reply
    .header("content-security-policy", policy)
    .header("referrer-policy", "same-origin")
    .header("cross-origin-opener-policy", "same-origin")
    .header("cross-origin-resource-policy", "same-origin");
}
