import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { ClusterError, errorText } from "../cluster-error.ts";
import { identityOf, type ProcessIdentity } from "./process-identity.ts";

/** How a process is started. Nothing secret is among the arguments: they can be seen by everybody. */
export type Command = {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
};

export type Launched = {
  /** Null when it ended before it could be looked at. */
  readonly identity: ProcessIdentity | null;
  readonly child: ChildProcess;
};

/** Servers get an environment of their own, and a run of tests finds what it started by its mark. */
function testMark(): NodeJS.ProcessEnv {
  const mark = process.env["TY_TEST_RUN"];
  return mark === undefined ? {} : { TY_TEST_RUN: mark };
}

/**
 * Starts a process that lives on when we die: in a session of its own, its output going straight into a file. Ctrl-C in
 * a terminal, a hang-up and the end of this process reach none of it.
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
    // Without this, a child that lives forever would hold this process open.
    child.unref();
    return { identity: identityOf(child.pid ?? 0), child };
  } finally {
    closeSync(log);
  }
}
