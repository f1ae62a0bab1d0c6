// npm test: every suite at its short size. The last line is `N passed, N failed`.
import { startVitest } from "vitest/node";
import { root } from "../lib/root.ts";

const vitest = await startVitest("test", process.argv.slice(2), { root, watch: false });
const tests = vitest.state.getFiles().flatMap((file) => file.tasks);
const { passed, failed } = count(tests);
const brokenFiles = vitest.state
  .getFiles()
  .filter((file) => file.result?.state === "fail" && file.tasks.length === 0).length;
const errors = vitest.state.getUnhandledErrors().length;
await vitest.close();
process.stdout.write(`${passed} passed, ${failed + brokenFiles + errors} failed\n`);
// A run that saw no test proves nothing.
process.exitCode = failed + brokenFiles + errors === 0 && passed > 0 ? 0 : 1;

type Task = {
  readonly type: string;
  readonly mode: string;
  readonly result?: { readonly state: string } | undefined;
  readonly tasks?: readonly Task[];
};

/** A test that did not run counts as failed: a silent skip would pass for a success. */
function count(tasks: readonly Task[]): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  for (const task of tasks) {
    if (task.tasks !== undefined) {
      const inner = count(task.tasks);
      passed += inner.passed;
      failed += inner.failed;
    } else if (task.result?.state === "pass") passed += 1;
    else failed += 1;
  }
  return { passed, failed };
}
