/** Starts a program of the SDK as the run's user, who can read and write only what the run can. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Owner } from "../state/run-user.ts";
import { pythonWithSdk } from "../supervisor/python.ts";

export type SdkHost = {
  /** The folder of the package trainyard; null if it is installed. */
  readonly sdkPath: string | null;
  /** The agent's variables, by which its Python is found. */
  readonly inherited: Readonly<Record<string, string>>;
};

/** The program is killed once the signal aborts. It gets none of the agent's variables but PATH. */
export function startSdkProgram(
  module: string,
  { sdkPath, inherited }: SdkHost,
  owner: Owner | null,
  signal: AbortSignal,
): ChildProcessWithoutNullStreams {
  return spawn(pythonWithSdk(sdkPath), ["-m", module], {
    ...(owner === null ? {} : { uid: owner.uid, gid: owner.gid }),
    cwd: "/",
    env: {
      PATH: inherited["PATH"] ?? "/usr/bin:/bin",
      ...(sdkPath === null ? {} : { PYTHONPATH: sdkPath }),
      PYTHONDONTWRITEBYTECODE: "1",
    },
    stdio: ["pipe", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
}
