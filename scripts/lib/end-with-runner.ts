/**
 * Stops all processes of the tests, and deletes their temporary files, when their runner ends, however it ends.
 *
 * Every process that is started after `endWithRunner` inherits a mark in its environment. A detached watcher process
 * reads from a pipe that only the runner holds open. When the pipe closes, the watcher kills every process with the
 * mark. A test that replaces the environment of a process must pass the mark on.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import { useCompiledPrograms } from "./programs/compiled-programs.ts";
import { withPythonFirst } from "./python-on-path.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";

const markVariable = "TY_TEST_RUN";
const parentLookMs = 500;

/**
 * Starts the watcher. Call it once in the process that runs the tests, before it starts other processes. The watcher
 * also deletes `folders`. Returns the mark.
 */
export function endWithRunner(...folders: readonly string[]): string {
  const { [markVariable]: _, ...environment } = process.env;
  const mark = randomUUID();
  const watcher = spawn(
    process.execPath,
    [join(import.meta.dirname, "runner-watcher.ts"), `${markVariable}=${mark}`, ...folders],
    // The watcher waits for the end of its standard input. It prints errors to the runner's standard error.
    { stdio: ["pipe", "ignore", "inherit"], env: environment, detached: true },
  );
  watcher.unref();
  (watcher.stdin as unknown as { unref(): void }).unref();
  process.env[markVariable] = mark;
  return mark;
}

/** Ends this process when its parent was killed: nothing reads its result then. */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(143);
  }, parentLookMs).unref();
}

/**
 * Compiles the programs that tests start, puts Python's own folder on PATH, gives the test run a folder for its
 * temporary files, and ends it with this process: vitest's `globalSetup`.
 */
export async function setup(): Promise<void> {
  await useCompiledPrograms();
  process.env["PATH"] = withPythonFirst(process.env["PATH"] ?? "");
  const folder = makeTemporaryFolder();
  endWithRunner(folder);
  process.env["TMPDIR"] = folder;
}
