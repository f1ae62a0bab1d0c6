/** The script of an example, run as a person runs it, and the files in its folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../scripts/lib/root.ts";

export const sdk = join(root, "libs", "sdk-python", "src");

export type Report = {
  readonly group: string;
  readonly stepsCompleted: number;
  readonly metrics: Readonly<Record<string, number>>;
};

/** The environment has the given variables, and of the caller's only PATH. */
export function startScript(
  python: string,
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  return spawn(python, [script, ...args], {
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONDONTWRITEBYTECODE: "1",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

export function linesOf(child: ChildProcess): string[] {
  const lines: string[] = [];
  if (child.stdout !== null) createInterface(child.stdout).on("line", (line) => lines.push(line));
  return lines;
}

export async function reportsOf(runDir: string): Promise<readonly Report[]> {
  const text = await readFile(join(runDir, "spool", "reports.ndjson"), "utf8");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Report]));
}

export async function endOf(runDir: string): Promise<string> {
  const end = JSON.parse(await readFile(join(runDir, "end.json"), "utf8")) as { reason: string };
  return end.reason;
}
