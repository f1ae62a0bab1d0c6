/**
 * Processes of tests end with their runner, however the runner ends. Every process that is started from here on
 * inherits a mark in its environment. A watcher in a session of its own reads from a pipe that only the runner holds:
 * when the pipe closes, the watcher ends everything that has the mark. A test that gives a process an environment of
 * its own passes the mark on.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import process from "node:process";

const markVariable = "TY_TEST_RUN";
const parentLookMs = 500;

/** Call once in the process that runs the tests, before it starts anything. Returns the mark. */
export function endWithRunner(): string {
  const { [markVariable]: _, ...environment } = process.env;
  const mark = randomUUID();
  const watcher = spawn(
    process.execPath,
    [join(import.meta.dirname, "runner-watcher.ts"), `${markVariable}=${mark}`],
    // Its own errors are seen; the pipe is what it waits for.
    { stdio: ["pipe", "ignore", "inherit"], env: environment, detached: true },
  );
  watcher.unref();
  (watcher.stdin as unknown as { unref(): void }).unref();
  process.env[markVariable] = mark;
  return mark;
}

/** Ends this process when the one that started it was killed: nobody waits for its result any more. */
export function endWithParent(): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(143);
  }, parentLookMs).unref();
}

/** The setup of a vitest `globalSetup`. */
export function setup(): void {
  endWithRunner();
}
