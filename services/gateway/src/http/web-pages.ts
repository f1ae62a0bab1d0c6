/** Serves the pages of the Web UI, each with a policy that lets nothing run or load that did not come from here. */
import { randomBytes } from "node:crypto";
import type { Logger } from "@trainyard/runtime";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Encoding, readWebFiles, type WebFile, type WebFiles } from "./web-files.ts";

/** Vite writes it where a nonce belongs. */
const noncePlaceholder = "__CSP_NONCE__";

export class WebPages {
  /** Null also once it could not be read: reading it again at each request would cost more than it helps. */
  #folder: string | null;
  readonly #logger: Logger;
  #pages: WebFiles | null = null;
  #reading: Promise<void> | null = null;

  /** Null for a gateway without pages. */
  constructor(folder: string | null, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Looks for the folder unless it was read: it may be built after this gateway started. Never throws. */
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

  /** Answers with a file, or with the page itself for an address within it; false where nothing is served there. */
  serve(request: FastifyRequest, reply: FastifyReply): boolean {
    const pages = this.#pages;
    const path = pathOf(request.url);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (pages === null || path === null || !isRead || isOfApi(path)) return false;
    const file = pages.files.get(path);
    if (file !== undefined) sendFile(request, reply, path, file);
    // An asset of an earlier build is missing, and not a page.
    else if (path.startsWith("/assets/")) return false;
    else sendIndex(reply, pages.index);
    return true;
  }
}

/** Decoded; null for one that is no path. */
function pathOf(url: string): string | null {
  try {
    return decodeURIComponent(url.split("?")[0] ?? "");
  } catch {
    // A percent sign that encodes nothing.
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

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { contentType, etag, bytes, compressed }: WebFile,
): void {
  // A file of assets/ has its digest in its name.
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

/** The best compression that there is and that the client takes. */
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

/** An empty nonce for what is no page: a file that is opened by itself runs nothing but files from here. */
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
