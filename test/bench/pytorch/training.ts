/** A training that waits at its gate (gate.py) and trains a block of batches whenever the gate opens. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

export class Training implements AsyncDisposable {
  /** The milliseconds from the spawn to the first batch. */
  readonly firstBatchMs: number;
  readonly #child: ChildProcess;
  readonly #server: Server;
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;

  private constructor(parts: {
    firstBatchMs: number;
    child: ChildProcess;
    server: Server;
    socket: Socket;
    lines: AsyncIterator<string>;
  }) {
    this.firstBatchMs = parts.firstBatchMs;
    this.#child = parts.child;
    this.#server = parts.server;
    this.#socket = parts.socket;
    this.#lines = parts.lines;
  }

  /** Starts a command, which must be a training with a gate, and waits until it reaches its first batch. */
  static async start(
    command: readonly [string, ...string[]],
    folder: string,
    name: string,
    env: NodeJS.ProcessEnv,
  ): Promise<Training> {
    const path = join(folder, `${name}.sock`);
    const server = createServer().listen(path);
    await once(server, "listening");
    const connected = Promise.withResolvers<Socket>();
    server.once("connection", connected.resolve);
    const start = performance.now();
    const [program, ...parameters] = command;
    const child = spawn(program, parameters, {
      cwd: folder,
      env: { ...env, BENCH_SOCKET: path },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    let complaints = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (complaints += chunk));
    const ended = once(child, "exit").then((how: readonly unknown[]) => {
      throw new Error(`${name} ended before its first batch: ${how.join(" ")}\n${complaints}`);
    });
    const socket = await Promise.race([connected.promise, ended]);
    ended.catch(() => {});
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    await lines.next();
    const firstBatchMs = performance.now() - start;
    return new Training({ firstBatchMs, child, server, socket, lines });
  }

  /** Trains a block; returns the seconds that the training measured. */
  async block(): Promise<number> {
    this.#socket.write("go\n");
    const next = await this.#lines.next();
    if (next.done === true) throw new Error("the training ended in the middle of a block");
    return Number(next.value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited =
      this.#child.exitCode === null && this.#child.signalCode === null
        ? once(this.#child, "exit")
        : Promise.resolve();
    // A launcher and its processes form one process group.
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
    await exited;
    this.#socket.destroy();
    this.#server.close();
  }
}
