/** A module of Python tests, run in a process of its own by libs/sdk-python/tests/run_tests.py. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../scripts/lib/root.ts";

export const testsFolder = join(root, "libs", "sdk-python", "tests");
export const runner = join(testsFolder, "run_tests.py");

export type Ended = {
  readonly id: string;
  readonly failure: string | null;
  /** Why it was not run. */
  readonly skipped: string | null;
};

type ModuleRun = {
  readonly child: ChildProcess;
  /** How the process ended, with what it said on stderr, once it has. */
  readonly over: Promise<{ readonly code: number | string; readonly complaints: string }>;
};

/** Starts the tests of `<module>.py` in a folder, with `env` beside this process's own, and tells of each as it ends. */
export function runModule(
  python: readonly [program: string, ...flags: string[]],
  folder: string,
  module: string,
  tell: (ended: Ended) => void,
  env: Readonly<Record<string, string>> = {},
): ModuleRun {
  const [program, ...flags] = python;
  const child = spawn(program, [...flags, runner, "run", folder, module], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString("utf8");
  });
  createInterface({ input: child.stdout }).on("line", (line) => tell(JSON.parse(line) as Ended));
  const { promise: over, resolve, reject } = Promise.withResolvers<Awaited<ModuleRun["over"]>>();
  child.on("error", reject);
  child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "?", complaints }));
  return { child, over };
}
