import { spawn } from "node:child_process";
import { join, resolve as resolvePath } from "node:path";
import process from "node:process";
import { root } from "./root.ts";

export type ToolResult = {
  readonly code: number;
  /** Standard output and standard error, in the order of their lines. */
  readonly output: string;
  readonly stdout: string;
};

/** Runs an installed tool, by name or path, under the project's Node. */
export function runTool(name: string, args: readonly string[], cwd = root): Promise<ToolResult> {
  const bin = join(root, "node_modules", ".bin");
  return new Promise((resolve, reject) => {
    const child = spawn(resolvePath(bin, name), args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
    });
    let output = "";
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output, stdout }));
  });
}
