/**
 * Waits until folders of users answer. A call of a mount whose server is away returns when the server is back, and
 * would stop the agent and the supervision of all its runs until then. So another process makes the first call. It
 * opens the folder, since a mount answers other calls from its memory.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { limits } from "../limits.ts";

const script =
  "const fs = require('fs'); fs.openSync(process.argv[1], fs.constants.O_RDONLY | fs.constants.O_DIRECTORY)";

export const waitSentence = (folder: string, agent: string): string =>
  `the launch waits for ${folder}, which does not answer on agent ${agent}`;

/** Calls `onWait` once with each folder that takes long. A missing folder answers, too. Throws at the signal. */
export async function untilAnswered(
  folders: readonly string[],
  onWait: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all([...new Set(folders)].map((folder) => answered(folder, onWait, signal)));
}

async function answered(
  folder: string,
  onWait: (folder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const options = { cwd: "/", env: {}, stdio: "ignore" } as const;
  const child = spawn(process.execPath, ["-e", script, "--", folder], options);
  child.unref();
  const late = setTimeout(onWait, limits.folderAnswerMs, folder);
  try {
    await once(child, "exit", { signal });
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
  }
}
