/** The files that a browser loads before it can draw the first page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Returns the scripts and styles that the built index.html names, in order. */
export function firstFiles(html: string): readonly string[] {
  const named = html.matchAll(/<(?:script|link)\b[^>]*?\b(?:src|href)="\/(assets\/[^"]+)"/g);
  return [...new Set([...named].map((match) => match[1] ?? ""))];
}

/**
 * Returns the kB of the page and its first files, each compressed with gzip as by the gateway. Throws if the page names
 * none.
 */
export function firstLoadKb(folder: string): number {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const files = firstFiles(html);
  if (files.length === 0) throw new Error("index.html names no script and no style");
  const bytes = ["index.html", ...files].map((file) => gzipSync(readFileSync(join(folder, file))));
  return bytes.reduce((sum, { length }) => sum + length, 0) / 1_000;
}
