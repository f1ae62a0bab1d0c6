/**
 * Runs a program in a container, with its user, variables and rights, by the OCI runtime itself: each session of
 * Podman's API leaves a process for five minutes, and starts Podman after that.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

export type Executed = { readonly code: number; readonly output: string };

const outputBytesMax = 1_048_576;

/** Rejects when the signal aborts: the program is killed then, as the kubelet does it since Kubernetes 1.20. */
export async function execute(
  runtime: string,
  container: string,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<Executed> {
  signal.throwIfAborted();
  const pidFile = join(tmpdir(), `ty-exec-${randomUUID()}`);
  const child = spawn(runtime, ["exec", "--pid-file", pidFile, container, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: Buffer): void => {
    if (bytes < outputBytesMax) chunks.push(chunk);
    bytes += chunk.length;
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const kill = (): void => {
    killIn(pidFile);
    child.kill("SIGKILL");
  };
  signal.addEventListener("abort", kill);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    signal.throwIfAborted();
    const output = Buffer.concat(chunks).subarray(0, outputBytesMax).toString();
    return { code: code ?? 137, output };
  } finally {
    signal.removeEventListener("abort", kill);
    rmSync(pidFile, { force: true });
  }
}

function killIn(pidFile: string): void {
  try {
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
  } catch {
    // The program has not started, or has ended.
  }
}
