import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { isSuite } from "./unit-tests.ts";

/** Matches tests that change their whole process: its environment or its event listeners. */
const changesItsProcess = /\bvi\.stub|process\.env\[[^\]]*\] *=[^=]|process\.on\(/;

/**
 * The test files that run in a process of their own: the suites, and tests that change their process. All others share
 * the modules of a few workers, since loading a service takes longer than most of the tests.
 */
export function aloneTests(files: readonly string[]): readonly string[] {
  return files.filter(
    (file) =>
      file.endsWith(".test.ts") &&
      (isSuite(file) || changesItsProcess.test(readFileSync(join(root, file), "utf8"))),
  );
}
