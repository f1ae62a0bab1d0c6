import { linesThat, type Rule, sourcesOf } from "../rule.ts";

/** Files whose default export a tool loads. */
const askedFor = new Set([
  "vitest.config.ts",
  "services/web/vite.config.ts",
  "scripts/lib/knip-count.ts",
]);

export const namedExports: Rule = {
  name: "exports are named one by one",
  check: (repository) => [
    ...linesThat(repository, sourcesOf(repository), /^export \*/, "export each name"),
    ...linesThat(
      repository,
      sourcesOf(repository).filter((file) => !askedFor.has(file)),
      /^export default\b|^export \{.*\bas default\b/,
      "export it by name",
    ),
  ],
  violations: {
    "everything at once": { "libs/a/src/index.ts": 'export * from "./a.ts";\n' },
    "everything in a namespace": { "libs/a/src/index.ts": 'export * as a from "./a.ts";\n' },
    "a default": { "libs/a/src/a.ts": "export default function a() {}\n" },
    "a default by another way": { "libs/a/src/a.ts": "export { a as default };\n" },
  },
  kept: {
    "libs/a/src/index.ts": 'export { a } from "./a.ts";\n',
    "vitest.config.ts": "export default 1;\n",
  },
};
