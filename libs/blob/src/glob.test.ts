import { describe, expect, test } from "vitest";
import { globMatcher, problemOfGlob } from "./glob.ts";

describe("a pattern matches", () => {
  test.each<[string, string, boolean]>([
    ["model.pt", "model.pt", true],
    ["model.pt", "deep/model.pt", false],
    ["*", "model.pt", true],
    ["*", "deep/model.pt", false],
    ["**", "deep/model.pt", true],
    ["**", "model.pt", true],
    ["deep/**", "deep/er/model.pt", true],
    ["deep/**", "model.pt", false],
    ["**/*.pt", "model.pt", true],
    ["**/*.pt", "a/b/c.pt", true],
    ["**/b/*", "a/b/c.pt", true],
    ["**/b/*", "a/c/c.pt", false],
    ["shard-?.bin", "shard-1.bin", true],
    ["shard-?.bin", "shard-10.bin", false],
    ["a*b*c", "aXbXbXc", true],
    ["a*b*c", "aXbXb", false],
    ["[a]", "a", false],
    ["[a]", "[a]", true],
    [".*", ".hidden", true],
  ])("%s of %s: %s", (glob, path, expected) => {
    expect(globMatcher([glob])(path)).toBe(expected);
  });

  test("a path when one of several patterns matches it, and no path when the list is empty", () => {
    expect(globMatcher(["a", "b"])("b")).toBe(true);
    expect(globMatcher([])("b")).toBe(false);
  });

  test("a hostile path in bounded time", () => {
    const startMs = performance.now();
    expect(globMatcher(["*a".repeat(300)])("a".repeat(2_000))).toBe(true);
    expect(globMatcher([`${"*a".repeat(300)}b`])("a".repeat(2_000))).toBe(false);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});

test.each(["", "/etc/passwd", "../other", "a/../../b", "./a", "x".repeat(2_000)])(
  "a pattern that is empty, too long or leads out is refused: %.20s",
  (glob) => expect(problemOfGlob(glob)).not.toBeNull(),
);

test("an ordinary pattern has no problem", () => {
  expect(["**", "a/b.pt", "*.bin", "..a", "a.."].map(problemOfGlob)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});
