import { dirname, join, normalize } from "node:path";
import { type Repository, type Rule, sourcesOf } from "../rule.ts";

const libs = ["libs/runtime/src/", "libs/search/src/"];
const relative = /\bfrom "(\.[^"]+)"/g;

/** The folder of a lib's file; null for the lib's root, which every folder may import, and for tests. */
function folderOf(file: string): string | null {
  const lib = libs.find((one) => file.startsWith(one));
  if (lib === undefined || file.endsWith(".test.ts")) return null;
  const [folder = "", ...rest] = file.slice(lib.length).split("/");
  return rest.length === 0 || folder === "testing" ? null : `${lib}${folder}`;
}

/** Returns the folders that each folder imports, types included. */
function importsBetween(repository: Repository): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const file of sourcesOf(repository)) {
    const from = folderOf(file);
    if (from === null) continue;
    for (const [, path = ""] of repository.read(file).matchAll(relative)) {
      const to = folderOf(normalize(join(dirname(file), path)));
      if (to !== null && to !== from) all.set(from, (all.get(from) ?? new Set()).add(to));
    }
  }
  return all;
}

function reachedFrom(
  folder: string,
  imports: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const to of imports.get(next) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}

export const foldersInOneDirection: Rule = {
  name: "the folders of libs/runtime and libs/search import each other in one direction",
  check: (repository) => {
    const imports = importsBetween(repository);
    return [...imports.keys()]
      .filter((folder) => reachedFrom(folder, imports).has(folder))
      .map((folder) => `${folder} imports itself through other folders`);
  },
  violations: {
    "two folders that import each other": {
      "libs/runtime/src/a/a.ts": 'import { b } from "../b/b.ts";\n',
      "libs/runtime/src/b/b.ts": 'import type { A } from "../a/types.ts";\n',
    },
    "a cycle of three": {
      "libs/search/src/a/a.ts": 'import { b } from "../b/b.ts";\n',
      "libs/search/src/b/b.ts": 'export { c } from "../c/c.ts";\n',
      "libs/search/src/c/c.ts": 'import { a } from "../a/a.ts";\n',
    },
  },
  kept: {
    "libs/runtime/src/a/a.ts":
      'import { b } from "../b/b.ts";\nimport { l } from "../limits.ts";\n',
    "libs/runtime/src/b/b.ts": 'import { c } from "./c.ts";\n',
    "libs/runtime/src/b/b.test.ts": 'import { a } from "../a/a.ts";\n',
    "libs/runtime/src/limits.ts": 'import { a } from "./a/a.ts";\n',
  },
};
