import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { unitTests } from "./unit-tests.ts";

/** Matches tests that change their whole process: its environment or its event listeners. */
const changesItsProcess = /\bvi\.stub|process\.env\[[^\]]*\] *=[^=]|process\.on\(/;

/**
 * Tests below these folders load a service and start it in their process. They share workers, since loading takes
 * longer than most of the tests.
 */
const startsService = /^services\/(?:gateway\/src\/api|metrics|experiments|migrate)\//;

/** The test files that run in a process of their own; the other files share the modules of a few workers. */
export function aloneTests(files: readonly string[]): readonly string[] {
  const units = new Set(unitTests(files));
  return files.filter(
    (file) =>
      file.endsWith(".test.ts") &&
      !units.has(file) &&
      (!startsService.test(file) || changesItsProcess.test(readFileSync(join(root, file), "utf8"))),
  );
}
