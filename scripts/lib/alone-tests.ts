import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { unitTests } from "./unit-tests.ts";

/** Changes that a test makes to its whole process: to its environment, or to the listeners of its events. */
const changesItsProcess = /\bvi\.stub|process\.env\[[^\]]*\] *=[^=]|process\.on\(/;

/** Each file of these loads a service and starts it in its own process: loading takes longer than most files' tests. */
const startsService = /^services\/(?:gateway\/src\/api|metrics|experiments|migrate)\//;

/** The test files that have a process to themselves; the others share the modules of a few workers. */
export function aloneTests(files: readonly string[]): readonly string[] {
  const units = new Set(unitTests(files));
  return files.filter(
    (file) =>
      file.endsWith(".test.ts") &&
      !units.has(file) &&
      (!startsService.test(file) || changesItsProcess.test(readFileSync(join(root, file), "utf8"))),
  );
}
