/**
 * The built Web UI, read into memory once. A request can only name a file that was read, so no path leads out of the
 * folder. Symbolic links are skipped, and texts are compressed here if the build has not done it.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { httpLimits } from "./limits.ts";

export type Encoding = "br" | "gzip";

export type WebFile = {
  readonly contentType: string;
  readonly etag: string;
  readonly bytes: Buffer;
  /** The content in compressed forms, if they are smaller. */
  readonly compressed: Readonly<Partial<Record<Encoding, Buffer>>>;
};

export type WebFiles = {
  /** The text of index.html, with placeholders for the nonce. */
  readonly index: string;
  /** The files by path from the root, such as /assets/index-3f9a.js. */
  readonly files: ReadonlyMap<string, WebFile>;
};

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".woff2": "font/woff2",
};

const alreadyCompressed: ReadonlySet<string> = new Set([".png", ".woff2", ".ico"]);

const suffixes: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };

const compressors: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/**
 * Reads all files of a folder. Null if it does not exist or has no index.html. Throws if it is too large for memory.
 */
export async function readWebFiles(folder: string): Promise<WebFiles | null> {
  const read = await readAll(folder);
  const index = read.get("/index.html");
  if (index === undefined) return null;
  const files = new Map<string, WebFile>();
  for (const [path, bytes] of read) {
    if (!isCompressedCopy(path, read) && path !== "/index.html") {
      files.set(path, await webFileOf(path, bytes, read));
    }
  }
  return { index: index.toString("utf8"), files };
}

async function readAll(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const read = new Map<string, Buffer>();
  let bytesRead = 0;
  const enter = async (path: string): Promise<void> => {
    for (const entry of await entriesOf(join(folder, path))) {
      const below = `${path}/${entry.name}`;
      if (entry.isDirectory()) await enter(below);
      if (!entry.isFile()) continue;
      const bytes = await readFile(join(folder, below));
      bytesRead += bytes.length;
      if (read.size >= httpLimits.webFilesMax || bytesRead > httpLimits.webBytesMax) {
        throw new Error(`${folder} has too many files or bytes to be served from memory`);
      }
      read.set(below, bytes);
    }
  };
  await enter("");
  return read;
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function isCompressedCopy(path: string, read: ReadonlyMap<string, Buffer>): boolean {
  return Object.values(suffixes).some(
    (suffix) => path.endsWith(suffix) && read.has(path.slice(0, -suffix.length)),
  );
}

async function webFileOf(
  path: string,
  bytes: Buffer,
  read: ReadonlyMap<string, Buffer>,
): Promise<WebFile> {
  const extension = extname(path).toLowerCase();
  const compressed: Partial<Record<Encoding, Buffer>> = {};
  if (!alreadyCompressed.has(extension)) {
    for (const encoding of ["br", "gzip"] as const) {
      const made = read.get(path + suffixes[encoding]) ?? (await compressors[encoding](bytes));
      if (made.length < bytes.length) compressed[encoding] = made;
    }
  }
  return {
    contentType: contentTypes[extension] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    bytes,
    compressed,
  };
}
