import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { unifiedDiff } from "./lines.ts";

test("a diff shows three lines around each change, and distant changes as separate hunks", () => {
  const before = Array.from({ length: 20 }, (_, line) => `line ${line}\n`);
  const after = before.with(2, "changed\n").toSpliced(15, 1);
  expect(unifiedDiff("f", before.join(""), after.join(""), 100)).toBe(
    [
      "--- a/f",
      "+++ b/f",
      "@@ -1,6 +1,6 @@",
      " line 0",
      " line 1",
      "-line 2",
      "+changed",
      " line 3",
      " line 4",
      " line 5",
      "@@ -13,7 +13,6 @@",
      " line 12",
      " line 13",
      " line 14",
      "-line 15",
      " line 16",
      " line 17",
      " line 18",
      "",
    ].join("\n"),
  );
});

test("a diff shows an added or removed file, and a last line without its line end", () => {
  expect(unifiedDiff("f", null, "a\n", 9)).toBe("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
  expect(unifiedDiff("f", "a\n", null, 9)).toBe("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
  const end = "\\ No newline at end of file\n";
  expect(unifiedDiff("f", "a", "a\n", 9)).toBe(`--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n${end}+a\n`);
  expect(unifiedDiff("f", "a", "a", 9)).toBe("");
});

const someText = fc
  .array(fc.constantFrom("a", "b", "c", "", "dd"), { maxLength: 30 })
  .chain((lines) => fc.constantFrom(lines.join("\n"), `${lines.join("\n")}\n`));

test("git apply turns the first text into the second, whatever the limit of differences", () => {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-diff-"));
  const file = join(folder, "f");
  try {
    fc.assert(
      fc.property(someText, someText, fc.constantFrom(0, 3, 100), (before, after, most) => {
        fc.pre(before !== after);
        writeFileSync(file, before);
        const input = unifiedDiff("f", before, after, most);
        execFileSync("git", ["apply", "--allow-empty", "--whitespace=nowarn", "-"], {
          cwd: folder,
          input,
        });
        expect(readFileSync(file, "utf8")).toBe(after);
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
