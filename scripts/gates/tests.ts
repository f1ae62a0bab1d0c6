import type { Gate } from "../lib/gate.ts";
import { runTool } from "../lib/run-tool.ts";
import { unitTests } from "../lib/unit-tests.ts";

/** The tests that start nothing: servers and processes are for `npm test`. */
export const unit: Gate = { name: "unit", run: (files) => runTests(unitTests(files)) };

/** The house rules. */
export const tidy: Gate = {
  name: "tidy",
  run: (files) => runTests(files.filter((file) => /^test\/tidy\/.*\.test\.ts$/.test(file))),
};

async function runTests(
  tests: readonly string[],
): Promise<{ readonly ok: boolean; readonly seen: number; readonly output: string }> {
  // Without names vitest would run every suite there is.
  if (tests.length === 0) return { ok: true, seen: 0, output: "" };
  // Tests that start nothing keep nothing either: one module graph for all of them is three times as fast.
  const options = ["run", "--reporter=dot", "--no-isolate"];
  const { code, output } = await runTool("vitest", [...options, ...tests]);
  // The count is of files that ran, in the line "Test Files  58 passed (58)".
  const seen = Number(/Test Files .*\((\d+)\)/.exec(output)?.[1] ?? 0);
  return { ok: code === 0 && seen === tests.length, seen, output };
}
