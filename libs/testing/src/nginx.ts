/** Runs nginx with a configuration for a test or a benchmark. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

export type RunningNginx = AsyncDisposable & { readonly pids: readonly number[] };

/** Debian's nginx is outside the PATH of some users. */
const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin` };

/** Whether this machine has nginx. */
export const hasNginx = (): boolean => spawnSync("nginx", ["-v"], { env }).status === 0;

/**
 * Starts one worker with these directives of the block `http`. Resolves when it listens at the port, and rejects with
 * nginx's own sentence if it ends before.
 */
export async function runNginx(directives: string, port: number): Promise<RunningNginx> {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-nginx-"));
  writeFileSync(join(folder, "nginx.conf"), configuration(folder, directives));
  const child = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const over = new AbortController();
  const ended = once(child, "close").then(() => over.abort());
  const dispose = async (): Promise<void> => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  if (await isListening(port, over.signal)) {
    return { pids: child.pid === undefined ? [] : [child.pid], [Symbol.asyncDispose]: dispose };
  }
  await dispose();
  throw new Error(`nginx ended before it listened: ${said.trim()}`);
}

const configuration = (folder: string, directives: string): string => `
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${directives}
}
`;

/** Waits until something listens at the port. Returns false if the signal aborts before. */
async function isListening(port: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "close").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isUp) return true;
    await delay(20);
  }
  return false;
}
