/** Runs modules of Python tests, each in a process of its own, by libs/sdk-python/tests/run_tests.py. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../scripts/lib/root.ts";

export const testsFolder = join(root, "libs", "sdk-python", "tests");
export const runner = join(testsFolder, "run_tests.py");

export type Ended = {
  readonly id: string;
  readonly failure: string | null;
  /** The reason why a test was skipped; null if it ran. */
  readonly skipped: string | null;
};

type ModuleRun = {
  readonly child: ChildProcess;
  /** Resolves when the process has ended, with its exit status and its stderr. */
  readonly over: Promise<{ readonly code: number | string; readonly complaints: string }>;
};

/** The result of a module: its process's exit status, its stderr, and the results of its tests. */
export type ModuleEnd = {
  readonly module: string;
  readonly seconds: number;
  /** The exit status; negative when a signal ended it. */
  readonly code: number;
  readonly complaints: string;
  readonly ended: readonly Ended[];
};

/**
 * Starts the tests of several modules of a folder, each in a fork of one process that has imported the packages, and
 * reports each module when its process has ended.
 */
export function runForks(
  python: readonly [program: string, ...flags: string[]],
  folder: string,
  what: {
    readonly modules: readonly string[];
    readonly packages: readonly string[];
    readonly atATime: number;
  },
  tell: (end: ModuleEnd) => void,
): ModuleRun {
  const own = ["fork", folder, String(what.atATime), what.packages.join(","), ...what.modules];
  return start([...python, runner, ...own], {}, (line) => tell(line as ModuleEnd));
}

/**
 * Starts the tests of `<module>.py` in a folder, with `env` added to this process's environment, and reports each test
 * when it ends.
 */
export function runModule(
  python: readonly [program: string, ...flags: string[]],
  folder: string,
  module: string,
  tell: (ended: Ended) => void,
  env: Readonly<Record<string, string>> = {},
): ModuleRun {
  return start([...python, runner, "run", folder, module], env, (line) => tell(line as Ended));
}

function start(
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  hear: (line: unknown) => void,
): ModuleRun {
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Where the environment forbids it, each process that a test starts would compile the SDK again.
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "", ...env },
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString("utf8");
  });
  createInterface({ input: child.stdout }).on("line", (line) => hear(JSON.parse(line)));
  const { promise: over, resolve, reject } = Promise.withResolvers<Awaited<ModuleRun["over"]>>();
  child.on("error", reject);
  child.on("close", (code, signal) => resolve({ code: code ?? signal ?? "?", complaints }));
  return { child, over };
}
