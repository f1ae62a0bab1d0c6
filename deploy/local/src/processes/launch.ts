import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { ClusterError, errorText } from "../cluster-error.ts";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";

/** A program with its arguments and environment. The arguments hold no secrets, since every user can see them. */
export type Command = {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
};

export type Launched = {
  /** Null when the process ended before its identity could be read. */
  readonly identity: ProcessIdentity | null;
  readonly child: ChildProcess;
};

/** The mark of a test run: servers get an environment of their own, and a test run finds its processes by this mark. */
function testMark(): NodeJS.ProcessEnv {
  const mark = process.env["TY_TEST_RUN"];
  return mark === undefined ? {} : { TY_TEST_RUN: mark };
}

/**
 * Starts a process that outlives this one: it has a session of its own and writes its output straight into a file.
 * Ctrl-C in a terminal, a hang-up and the end of this process do not reach it.
 */
export async function launch(command: Command, logFile: string): Promise<Launched> {
  const log = openSync(logFile, "a", 0o600);
  try {
    const child = spawn(command.program, command.parameters, {
      cwd: command.folder,
      env: { ...testMark(), ...command.environment },
      detached: true,
      stdio: ["ignore", log, log],
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
    return { identity: identityOf(child.pid ?? 0), child };
  } finally {
    closeSync(log);
  }
}
