import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { programFile } from "@trainyard/kernel/program-file";

const main = programFile(join(import.meta.dirname, "../main.ts"));

export type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a program of the installation in the test's environment, without the settings of a cluster. */
export function runInstall(...parameters: readonly string[]): Promise<Said> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^TRAINYARD_(POSTGRES|URL|TOKEN|KEYS)/.test(name),
  );
  return promisify(execFile)(process.execPath, [main, ...parameters], {
    env: Object.fromEntries(own),
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Said,
  );
}
