import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "../home/home.ts";
import { webPackage } from "../web/sources.ts";

/**
 * Names the state of the code that processes are started from, so that one started from an older state is replaced and
 * not taken over. Times and sizes are enough: a wrong guess costs a restart.
 */
export function codeStamp(): string {
  const hash = createHash("sha256");
  const folders = ["libs", "services", "deploy"].map((name) => join(checkout, name));
  hash.update(String(statSync(join(checkout, "pnpm-lock.yaml")).mtimeMs));
  while (folders.length > 0) {
    const folder = folders.pop() ?? "";
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // The pages run in browsers: what is built from them has a folder of its own name.
      const isServed = entry.name !== "node_modules" && path !== join(checkout, webPackage);
      if (entry.isDirectory() && isServed) folders.push(path);
      if (!entry.isFile() || !/\.(ts|sql|py)$/.test(entry.name)) continue;
      const { mtimeMs, size } = statSync(path);
      hash.update(`${path}\0${mtimeMs}\0${size}\0`);
    }
  }
  return hash.digest("hex");
}
