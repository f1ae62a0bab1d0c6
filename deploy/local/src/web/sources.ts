import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** The package of the pages, below a checkout. */
export const webPackage = "services/web";

/**
 * A digest of the sources that the pages are built from: their package, the libraries of the checkout that it depends
 * on, directly or indirectly, and the lock file for all other packages. Null if the checkout has no pages.
 */
export function webDigest(checkout: string): string | null {
  if (!existsSync(join(checkout, webPackage, "package.json"))) return null;
  const hash = createHash("sha256");
  const add = (path: string): void => {
    hash
      .update(`${relative(checkout, path)}\0`)
      .update(readFileSync(path))
      .update("\0");
  };
  for (const folder of packagesOf(checkout, webPackage)) {
    for (const path of sourcesIn(join(checkout, folder))) add(path);
  }
  for (const name of ["pnpm-lock.yaml", "tsconfig.base.json"]) {
    if (existsSync(join(checkout, name))) add(join(checkout, name));
  }
  return hash.digest("hex").slice(0, 16);
}

/** The folder of a package and those of the libraries that it depends on, sorted. */
function packagesOf(checkout: string, first: string): readonly string[] {
  const found = new Set<string>();
  const waiting = [first];
  while (waiting.length > 0) {
    const folder = waiting.pop() ?? "";
    if (found.has(folder)) continue;
    found.add(folder);
    const text = readFileSync(join(checkout, folder, "package.json"), "utf8");
    const { dependencies = {} } = JSON.parse(text) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const [name, version] of Object.entries(dependencies)) {
      const library = join("libs", name.replace(/^@trainyard\//, ""));
      if (version.startsWith("workspace:")) waiting.push(library);
    }
  }
  return [...found].toSorted();
}

/** All files that a build may read: no tests, no installed packages, no build outputs. */
function sourcesIn(folder: string): readonly string[] {
  const paths: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isOurs = !["node_modules", "dist"].includes(entry.name);
    if (entry.isDirectory() && isOurs) paths.push(...sourcesIn(path));
    if (entry.isFile() && !/\.test\.tsx?$|\.tsbuildinfo$/.test(entry.name)) paths.push(path);
  }
  return paths.toSorted();
}
