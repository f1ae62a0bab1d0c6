import { dirname, join, normalize } from "node:path";
import { isTestCode, type Repository, type Rule, sourcesOf } from "../rule.ts";
import { importsOf } from "./imports.ts";

const isProduction = (file: string): boolean =>
  /^(libs|services|deploy)\/[^/]+\/src\//.test(file) && !isTestCode(file);

/** The names under which packages of this repository export test code, such as `@trainyard/search/testing`. */
function exportedTestCode(repository: Repository): ReadonlySet<string> {
  const names = new Set<string>();
  for (const file of repository.files) {
    if (!/^(libs|services|deploy)\/[^/]+\/package\.json$/.test(file)) continue;
    const { name, exports = {} } = JSON.parse(repository.read(file)) as {
      readonly name: string;
      readonly exports?: Readonly<Record<string, string>>;
    };
    for (const [path, target] of Object.entries(exports)) {
      const isTesting = dirname(file) === "libs/testing";
      if (isTesting || isTestCode(join(dirname(file), target))) names.add(join(name, path));
    }
  }
  return names;
}

export const noTestMaterial: Rule = {
  name: "production code imports nothing that is made for tests",
  check: (repository) => {
    const exported = exportedTestCode(repository);
    return importsOf(repository, sourcesOf(repository).filter(isProduction))
      .filter(({ file, what }) =>
        what.startsWith(".")
          ? isTestCode(normalize(join(dirname(file), what)))
          : exported.has(what),
      )
      .map(({ file, what }) => `${file} imports ${what}, which is made for tests`);
  },
  violations: {
    "test code of its own": {
      "libs/a/src/a.ts": 'import { example } from "./testing/examples.ts";\n',
    },
    "test code outside of a folder for it": {
      "libs/a/src/a-world.ts": 'import { example } from "./testing/examples.ts";\n',
    },
    "test code that another package exports": {
      "libs/a/package.json":
        '{ "name": "@trainyard/a", "exports": { "./b": "./src/testing/b.ts" } }',
      "services/a/src/shell/a.ts": 'import { b } from "@trainyard/a/b";\n',
    },
    "the package for tests": {
      "libs/testing/package.json":
        '{ "name": "@trainyard/testing", "exports": { ".": "./src/index.ts" } }',
      "deploy/local/src/a.ts": 'import { given } from "@trainyard/testing";\n',
    },
  },
  kept: {
    "libs/a/package.json":
      '{ "name": "@trainyard/a", "exports": { ".": "./src/a.ts", "./testing": "./src/testing/index.ts" } }',
    "libs/a/src/testing/index.ts": 'export { a } from "./examples.ts";\n',
    "services/a/src/a.ts": 'import { a } from "@trainyard/a";\n',
    "services/a/src/a.test.ts": 'import { a } from "@trainyard/a/testing";\n',
    "test/bench/a.ts": 'import { a } from "@trainyard/a/testing";\n',
  },
};
