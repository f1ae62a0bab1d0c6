/**
 * Waits until folders of users answer. A call of a mount whose server is away returns when the server is back, and
 * would stop the agent and the supervision of all its runs until then. So another process makes the first call. It
 * opens the folder, since a mount answers other calls from its memory.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { limits } from "../limits.ts";
import { HostProblem } from "./runtime.ts";

const script = `
import os, sys
try:
    os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
except OSError:
    pass
`;

/** The arguments that start Python, whose start takes less than that of Node. */
export type Python = readonly [string, ...string[]];

/** Returns a function that says once of each folder that the launch waits for it. */
export function sayOnce(say: (text: string) => void, agent: string): (folder: string) => void {
  const said = new Set<string>();
  return (folder) => {
    if (said.has(folder)) return;
    said.add(folder);
    say(`the launch waits for ${folder}, which does not answer on agent ${agent}`);
  };
}

/** Calls `onWait` once with each folder that takes long. A missing folder answers, too. Throws at the signal. */
export async function untilAnswered(
  python: Python,
  folders: readonly string[],
  onWait: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    [...new Set(folders)].map((folder) => answered(python, folder, onWait, signal)),
  );
}

async function answered(
  [program, ...parameters]: Python,
  folder: string,
  onWait: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const argv = [...parameters, "-c", script, folder];
  const child = spawn(program, argv, { cwd: "/", stdio: "ignore" });
  child.unref();
  const late = setTimeout(onWait, limits.folderAnswerMs, folder);
  try {
    await once(child, "exit", { signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    const { message } = cause as Error;
    const text = `a launch needs Python 3 on this host, to see whether ${folder} answers: ${message}`;
    throw new HostProblem(text, { cause });
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}
