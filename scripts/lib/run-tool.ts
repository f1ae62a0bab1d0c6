import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { root } from "./root.ts";

export type ToolResult = { readonly code: number; readonly output: string };

/** Runs a tool that the project installed, under the project's Node; both of its outputs in the order they came. */
export function runTool(name: string, args: readonly string[], cwd = root): Promise<ToolResult> {
  const bin = join(root, "node_modules", ".bin");
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, name), args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}`, NO_COLOR: "1" },
    });
    let output = "";
    const take = (chunk: Buffer): void => {
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
