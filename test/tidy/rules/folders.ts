import { dirname, join, normalize } from "node:path";
import { type Repository, type Rule, sourcesOf } from "../rule.ts";

const relative = /\bfrom "(\.[^"]+)"/g;

/** Returns the folder of a package's file that is compared; null for its root, which every folder may import. */
type FolderOf = (file: string) => string | null;

/** The folder that has the file; null for tests, too. */
const innermost: FolderOf = (file) => {
  const [, root = "", rest = ""] =
    /^((?:libs|services|deploy)\/[^/]+\/src\/)(.+)$/.exec(file) ?? [];
  if (root === "" || file.endsWith(".test.ts")) return null;
  const folder = dirname(rest);
  return folder === "." || /(^|\/)testing(\/|$)/.test(folder) ? null : root + folder;
};

/** The part of the package that has the file: its core, its shell, a folder of a lib. */
const outermost: FolderOf = (file) => {
  const folder = innermost(file);
  return folder === null ? null : (/^[^/]+\/[^/]+\/src\/[^/]+/.exec(folder)?.[0] ?? null);
};

/** A folder and its parts may import each other. */
const isWithin = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`);

/** Returns the folders that each folder imports, types included. */
function importsBetween(
  repository: Repository,
  folderOf: FolderOf,
): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const file of sourcesOf(repository)) {
    const from = folderOf(file);
    if (from === null) continue;
    for (const [, path = ""] of repository.read(file).matchAll(relative)) {
      const to = folderOf(normalize(join(dirname(file), path)));
      if (to === null || isWithin(to, from) || isWithin(from, to)) continue;
      all.set(from, (all.get(from) ?? new Set()).add(to));
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
  name: "the folders of a package import each other in one direction",
  check: (repository) =>
    [innermost, outermost].flatMap((folderOf) => {
      const imports = importsBetween(repository, folderOf);
      return [...imports.keys()]
        .filter((folder) => reachedFrom(folder, imports).has(folder))
        .map((folder) => `${folder} imports itself through other folders`);
    }),
  violations: {
    "two folders that import each other": {
      "libs/runtime/src/a/a.ts": 'import { b } from "../b/b.ts";\n',
      "libs/runtime/src/b/b.ts": 'import type { A } from "../a/types.ts";\n',
    },
    "two folders of a service's core": {
      "services/a/src/core/a/a.ts": 'import { b } from "../b/b.ts";\n',
      "services/a/src/core/b/b.ts": 'import type { A } from "../a/types.ts";\n',
    },
    "two parts of a package that import each other's folders": {
      "libs/runtime/src/a/a/a.ts": 'import { b } from "../../b/b/b.ts";\n',
      "libs/runtime/src/b/c/c.ts": 'import type { A } from "../../a/d/types.ts";\n',
    },
    "a cycle of three": {
      "libs/search/src/a/a.ts": 'import { b } from "../b/b.ts";\n',
      "libs/search/src/b/b.ts": 'export { c } from "../c/c.ts";\n',
      "libs/search/src/c/c.ts": 'import { a } from "../a/a.ts";\n',
    },
  },
  kept: {
    "libs/runtime/src/a/a.ts":
      'import { b } from "../b/b.ts";\nimport { l } from "../limits.ts";\nimport { p } from "./parts/p.ts";\n',
    "libs/runtime/src/a/parts/p.ts": 'import { a } from "../a.ts";\n',
    "libs/runtime/src/b/b.ts": 'import { c } from "./c.ts";\n',
    "libs/runtime/src/b/b.test.ts": 'import { a } from "../a/a.ts";\n',
    "libs/runtime/src/limits.ts": 'import { a } from "./a/a.ts";\n',
  },
};
