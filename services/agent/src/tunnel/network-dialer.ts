/**
 * Connects to ports in the network of a container by a process inside of it (network_dialer.py). One process serves all
 * streams of a run. It is started by the first one, and ends with the agent.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { pythonIn } from "../supervisor/python.ts";

const program = join(import.meta.dirname, "network_dialer.py");

export class NetworkDialer implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "ty-dial-"));
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;

  /** `pid` is a process of the container. */
  constructor(pid: number) {
    const [command, ...parameters] = pythonIn(program);
    this.#child = spawn(command, [...parameters, String(pid), this.#path], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#ready = readyOf(this.#child);
    this.#ready.catch(() => {});
  }

  /** Returns null if nothing listens on the port. Throws a Fault if the container cannot be entered. */
  async connect(port: number): Promise<Socket | null> {
    await this.#ready;
    const socket = connect({ path: this.#path, allowHalfOpen: true });
    try {
      await once(socket, "connect");
      const asked = Buffer.alloc(2);
      asked.writeUInt16BE(port);
      socket.write(asked);
      const answer = await firstByte(socket);
      if (answer === 0) return socket;
    } catch (cause) {
      socket.destroy();
      throw notEntered("its process has ended", cause);
    }
    socket.destroy();
    return null;
  }

  [Symbol.dispose](): void {
    this.#child.stdin?.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #path(): string {
    return join(this.#folder, "dial");
  }
}

async function readyOf(child: ChildProcess): Promise<void> {
  let problem = "";
  child.stdin?.on("error", () => {});
  child.stderr?.on("data", (text: Buffer) => (problem = text.toString("utf8").trim()));
  const failed = once(child, "close").then(() => {
    throw notEntered(problem.split("\n").at(-1) ?? "", null);
  });
  if (child.stdout !== null) await Promise.race([once(child.stdout, "data"), failed]);
  failed.catch(() => {});
}

async function firstByte(socket: Socket): Promise<number> {
  for (;;) {
    const piece = socket.read(1) as Buffer | null;
    if (piece !== null) return piece[0] ?? 1;
    if (socket.readableEnded) return 1;
    await Promise.race([once(socket, "readable"), once(socket, "end")]);
  }
}

export function notEntered(why: string, cause: unknown): Fault {
  const detail = `the agent cannot enter the network of the run's container: ${why}`;
  return new Fault("container_not_entered", detail, { retry: "later", cause });
}
