import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../home/home.ts";
import { webPackage } from "../web/sources.ts";

/**
 * A digest of the code that processes are started from: a process that was started from older code is replaced, not
 * taken over. Times and sizes of files are enough: a false difference only costs a restart.
 */
export function codeStamp(): string {
  const hash = createHash("sha256");
  const folders = ["libs", "services", "deploy"].map((name) => join(checkout, name));
  hash.update(String(statSync(join(checkout, "pnpm-lock.yaml")).mtimeMs));
  while (folders.length > 0) {
    const folder = folders.pop() ?? "";
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // The pages run in browsers, and each build of them has its own folder, so their sources do not count.
      const isServed = entry.name !== "node_modules" && path !== join(checkout, webPackage);
      if (entry.isDirectory() && isServed) folders.push(path);
      if (!entry.isFile() || !/\.(ts|sql|py)$/.test(entry.name)) continue;
      const { mtimeMs, size } = statSync(path);
      hash.update(`${path}\0${mtimeMs}\0${size}\0`);
    }
  }
  return hash.digest("hex");
}
