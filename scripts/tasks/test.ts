// npm test: runs every suite at its short size, or the test files below the given paths. With `-t TEXT` it runs only
// tests whose names match the text, a regular expression. The last line is `N passed, N failed`. The lines before it
// count skipped tests with their reasons.
import { parseArgs } from "node:util";
import { isRequired, needs } from "@trainyard/testing/needs";
import { startVitest } from "vitest/node";
import { endWithParent, endWithRunner } from "../lib/end-with-runner.ts";
import { makePythonEnvironment } from "../lib/python-environment.ts";
import { makeRuff } from "../lib/python-tools.ts";
import { root } from "../lib/root.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const { paths, name } = asked();
endWithParent();
// pip has a mark of its own: vitest gives its tests another one later.
endWithRunner();
const environment = await makePythonEnvironment(say);
if (environment.python === null) say(environment.why);
if (environment.python === null && isRequired("torch")) {
  say("TRAINYARD_REQUIRE asks for torch: without it no test is run");
  process.exit(1);
}
const tool = await makeRuff(say);
if (tool.program === null) say(tool.why);

const named = name === undefined ? {} : { testNamePattern: name };
const vitest = await startVitest("test", paths, { root, watch: false, ...named });
const counted = count(vitest.state.getFiles().flatMap((file) => file.tasks));
const brokenFiles = vitest.state
  .getFiles()
  .filter((file) => file.result?.state === "fail" && file.tasks.length === 0).length;
const errors = vitest.state.getUnhandledErrors().length;
await vitest.close();
const failed = counted.failed + brokenFiles + errors;
for (const [why, tests] of counted.skipped) {
  process.stdout.write(`${tests} ${tests === 1 ? "test" : "tests"} skipped: ${why}\n`);
}
process.stdout.write(`${counted.passed} passed, ${failed} failed\n`);
// A run without a passed test proves nothing, so it fails.
process.exitCode = failed === 0 && counted.passed > 0 ? 0 : 1;

/** Parses the arguments. An unknown argument ends the process: ignoring it would run every suite. */
function asked(): { readonly paths: string[]; readonly name: string | undefined } {
  try {
    const options = { "name-pattern": { type: "string", short: "t" } } as const;
    const { positionals, values } = parseArgs({ options, allowPositionals: true });
    return { paths: positionals, name: values["name-pattern"] };
  } catch (error) {
    say(`usage: npm test -- [PATH …] [-t TEXT]; ${(error as Error).message.split(". ")[0]}.`);
    process.exit(2);
  }
}

type Task = {
  readonly type: string;
  readonly mode: string;
  readonly result?: { readonly state: string; readonly note?: string | undefined } | undefined;
  readonly tasks?: readonly Task[];
};

type Counts = { passed: number; failed: number; readonly skipped: Map<string, number> };

/**
 * A skipped test that does not name its missing requirement counts as failed: a silent skip would pass for a success.
 */
function count(
  tasks: readonly Task[],
  counts: Counts = { passed: 0, failed: 0, skipped: new Map() },
): Counts {
  for (const { tasks: inner, mode, result } of tasks) {
    const note = result?.note ?? "";
    if (inner !== undefined) count(inner, counts);
    // The name pattern excludes this test.
    else if (name !== undefined && mode === "skip" && result === undefined) continue;
    else if (result?.state === "pass") counts.passed += 1;
    else if (result?.state === "skip" && note.startsWith(needs)) {
      const why = note.slice(needs.length);
      counts.skipped.set(why, (counts.skipped.get(why) ?? 0) + 1);
    } else counts.failed += 1;
  }
  return counts;
}
