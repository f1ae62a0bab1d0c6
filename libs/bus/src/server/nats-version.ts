import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { busLimits } from "../limits.ts";

const run = promisify(execFile);
/** The oldest tested version; Debian 12 has it. */
const oldest = { major: 2, minor: 9 };

/**
 * Resolves if the program runs on this machine and is a nats-server of version 2.9 or newer; rejects with the reason
 * otherwise.
 */
export async function checkNatsServer(path: string): Promise<void> {
  const { stdout } = await run(path, ["--version"], { timeout: busLimits.serverStartMs });
  const match = /nats-server: v(\d+)\.(\d+)\./.exec(stdout);
  if (match === null) throw new Error(`${path} is not a nats-server`);
  const major = Number(match[1]);
  const minor = Number(match[2]);
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return;
  throw new Error(
    `${path} is version ${major}.${minor}, older than ${oldest.major}.${oldest.minor}`,
  );
}
