/** A Redis server for tests, which keeps nothing on disk. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

export type RunningRedis = AsyncDisposable & {
  readonly port: number;
  /** Freezes the server until `thaw`: connections stay open, and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** Deletes everything, and resolves when it is gone. */
  flush(): Promise<void>;
};

/** Whether this machine has redis-server. */
export const hasRedis = (): boolean => spawnSync("redis-server", ["--version"]).status === 0;

/** Starts a server on 127.0.0.1. */
export async function startRedis(
  port: number,
  options: { readonly password?: string } = {},
): Promise<RunningRedis> {
  const given = { port: String(port), bind: "127.0.0.1", save: "", appendonly: "no" };
  const settings = options.password === undefined ? [] : ["--requirepass", options.password];
  const child = spawn(
    "redis-server",
    [...Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]), ...settings],
    { stdio: ["ignore", "pipe", "inherit"], cwd: "/" },
  );
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes("Ready to accept connections") && resolve());
    lines.once("close", () => reject(new Error("redis-server ended before it was ready")));
  });
  return {
    port,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async flush() {
      const socket = connect(port, "127.0.0.1");
      socket.write("FLUSHALL\r\n");
      await once(socket, "data");
      socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
