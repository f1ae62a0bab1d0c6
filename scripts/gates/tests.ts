import type { Gate } from "../lib/gate.ts";
import { runTool } from "../lib/run-tool.ts";
import { unitTests } from "../lib/unit-tests.ts";

/** The unit tests: they start no server and no process. `npm test` runs all tests. */
export const unit: Gate = { name: "unit", run: (files) => runTests(unitTests(files)) };

/** The tests of the house rules. */
export const tidy: Gate = {
  name: "tidy",
  run: (files) => runTests(files.filter((file) => /^test\/tidy\/.*\.test\.ts$/.test(file))),
};

async function runTests(
  tests: readonly string[],
): Promise<{ readonly ok: boolean; readonly seen: number; readonly output: string }> {
  // Vitest without file names would run every suite.
  if (tests.length === 0) return { ok: true, seen: 0, output: "" };
  // Unit tests leave no state behind, so they share one module graph, which is three times as fast.
  const options = ["run", "--reporter=dot", "--no-isolate"];
  const { code, output } = await runTool("vitest", [...options, ...tests]);
  // The line "Test Files  58 passed (58)" counts the files that ran.
  const seen = Number(/Test Files .*\((\d+)\)/.exec(output)?.[1] ?? 0);
  return { ok: code === 0 && seen === tests.length, seen, output };
}
