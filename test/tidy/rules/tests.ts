import { linesThat, type Rule } from "../rule.ts";

/** Modules with tests of a contract or of a page, which a test file imports. */
const tests = (files: readonly string[]): readonly string[] =>
  files.filter((file) =>
    /\.test\.ts$|^libs\/[^/]+\/src\/contract|^test\/browser\/pages\//.test(file),
  );

export const everyTestRuns: Rule = {
  name: "no test is skipped, focused or left to be written",
  check: (repository) =>
    linesThat(
      repository,
      tests(repository.files),
      /\b(it|test|describe|suite)\.(skip|only|todo|fails|skipIf|runIf)\b|\bcontext\.skip\(/,
      "every test runs",
    ),
  violations: {
    "a skipped one": { "libs/a/src/a.test.ts": 'it.skip("works", () => {});\n' },
    "a focused one": { "libs/a/src/a.test.ts": 'describe.only("a", () => {});\n' },
    "one in a contract": { "libs/a/src/contract/a.ts": 'test.todo("later");\n' },
    "one of a page": { "test/browser/pages/a.ts": 'test.only("a list", () => {});\n' },
  },
  kept: { "libs/a/src/a.test.ts": 'it("may skip a line", () => {});\nonly.skip();\n' },
};

export const noMocks: Rule = {
  name: "nothing of ours is mocked: the memory adapters are the fakes",
  check: (repository) =>
    linesThat(
      repository,
      tests(repository.files),
      /\b(vi|jest)\.(mock|doMock|spyOn|hoisted)\(/,
      "use the memory adapter",
    ),
  violations: { "a mocked module": { "libs/a/src/a.test.ts": 'vi.mock("./log.ts");\n' } },
  kept: { "libs/a/src/a.test.ts": "const heard = vi.fn();\n" },
};
