/** A failing log prints the name of a test: it begins with its subject, not with What, Who or a conjunction. */
import { linesThat, type Rule } from "../rule.ts";

const typescript =
  /^\s*(?:test|it|describe)(?:\.\w+(?:\([^)]*\))?)?\(\s*["'`](?:what|who|whose|whoever|whatever|and|or|but) /;
const python = /^\s*def test_(?:what|who|whose|whatever|and|or|but)_/;

export const testNamesBegin: Rule = {
  name: "the name of a test begins with its subject: not with What, Who, And or But",
  check: (repository) => [
    ...linesThat(
      repository,
      repository.files.filter((file) => file.endsWith(".ts") && !file.startsWith("test/tidy/")),
      typescript,
      "begin with the noun",
    ),
    ...linesThat(
      repository,
      repository.files.filter((file) => /(^|\/)test_\w+\.py$/.test(file)),
      python,
      "begin with the noun",
    ),
  ],
  violations: {
    what: { "libs/a/src/a.test.ts": 'test("what is stored is read", () => {});\n' },
    "a group": { "libs/a/src/a.test.ts": 'describe("who may write", () => {});\n' },
    and: { "libs/a/src/a.test.ts": '  it("and ends", () => {});\n' },
    "of a module": { "libs/a/tests/test_a.py": "    def test_what_is_stored(self):\n" },
  },
  kept: {
    "libs/a/src/a.test.ts": 'test("a value and what follows it are read", () => {});\n',
    "libs/a/tests/test_a.py": "    def test_whole_numbers_are_read(self):\n",
  },
};
