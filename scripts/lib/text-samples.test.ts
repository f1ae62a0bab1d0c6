import { expect, test } from "vitest";
import { drawn, textsOf } from "./text-samples.ts";

const sources = [
  {
    path: "libs/a/src/a.ts",
    text: '/** Adds one.\n * Never throws. */\nthrow new Error("the number is not one that can be added to");\n// A reason.\n',
  },
  {
    path: "libs/a/src/a.test.ts",
    text: 'describe("a", () => {\n  describe("b", () => {});\n  test("adds one", () => {});\n});\n',
  },
  { path: "libs/b/tests/test_b.py", text: "class B:\n    def test_counts(self):\n        pass\n" },
  { path: "libs/a/src/gen/b.ts", text: "/** Generated. */\n" },
];
const found = (kind: Parameters<typeof textsOf>[0]) =>
  textsOf(kind, sources).map(({ file, line, text }) => [file, line, text]);

test("samples are the comments, messages and test names of handwritten code, with their lines", () => {
  expect(found("comment")).toEqual([
    ["libs/a/src/a.ts", 1, "Adds one. Never throws."],
    ["libs/a/src/a.ts", 4, "A reason."],
  ]);
  expect(found("message")).toEqual([
    ["libs/a/src/a.ts", 3, '"the number is not one that can be added to"'],
  ]);
  expect(found("test name")).toEqual([
    ["libs/a/src/a.test.ts", 3, '"a" > "adds one"'],
    ["libs/b/tests/test_b.py", 2, "test_counts"],
  ]);
});

test("a seed always draws the same samples, each at most once; another seed draws others", () => {
  const all = Array.from({ length: 100 }, (_, line) => ({ file: "a.ts", line, text: "x" }));
  const first = drawn(all, 20, "1");
  expect(drawn(all, 20, "1")).toEqual(first);
  expect(drawn(all.toReversed(), 20, "1")).toEqual(first);
  expect(new Set(first).size).toBe(20);
  expect(drawn(all, 20, "2")).not.toEqual(first);
});
