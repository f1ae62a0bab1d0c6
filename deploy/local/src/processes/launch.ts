import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { ClusterError, errorText } from "../cluster-error.ts";
import type { Lock } from "./lock.ts";

/** A program with its arguments and environment. The arguments hold no secrets, since every user can see them. */
export type Command = {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
};

/** The mark of a test run: servers get an environment of their own, and a test run finds its processes by this mark. */
function testMark(): NodeJS.ProcessEnv {
  const mark = process.env["TY_TEST_RUN"];
  return mark === undefined ? {} : { TY_TEST_RUN: mark };
}

/**
 * Starts a process in a session of its own, which writes its output straight into a file: Ctrl-C in a terminal and a
 * hang-up do not reach it. With a lock, the process inherits it, and its input is a pipe that closes when this process
 * ends, also after kill -9. Without one, the process is independent of this one.
 */
export async function launch(
  command: Command,
  logFile: string,
  lock?: Lock,
): Promise<ChildProcess> {
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(command.program, command.parameters, {
      cwd: command.folder,
      env: { ...testMark(), ...command.environment },
      detached: true,
      stdio: lock === undefined ? ["ignore", log, log] : ["pipe", log, log, lock.file],
      ...(command.user === null ? {} : { uid: command.user.uid, gid: command.user.gid }),
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) =>
        reject(
          new ClusterError(
            "cannot_start",
            `${command.program} could not be started: ${errorText(error)}`,
            { cause: error },
          ),
        ),
      );
    });
    // Without unref, the child would keep this process alive.
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}
