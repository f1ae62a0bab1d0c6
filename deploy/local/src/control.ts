/**
 * How the command line speaks with the supervisor: a unix socket in the home's run folder, one JSON line each way per
 * connection. Who may enter that folder (mode 0700) may ask.
 */
import { chmodSync, closeSync, existsSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { ClusterError, errorCode, errorText } from "./cluster-error.ts";
import type { ClusterInfo } from "./cluster-info.ts";
import type { Home } from "./home/home.ts";
import { limits } from "./limits.ts";

export type ControlRequest =
  | { readonly verb: "status" }
  | { readonly verb: "restart"; readonly name: string }
  | { readonly verb: "down" };

export type SupervisorPhase = "starting" | "ready" | "failed" | "stopping";

export type SupervisorStatus = {
  readonly phase: SupervisorPhase;
  /** The current step, for people who wait. */
  readonly step: string;
  /** Why it is not ready and will not become so by itself. */
  readonly failure: string | null;
  readonly cluster: ClusterInfo | null;
};

export type ControlReply =
  | { readonly ok: true; readonly status: SupervisorStatus }
  | { readonly ok: false; readonly code: string; readonly sentence: string };

const socketName = "control.sock";

/**
 * A path of a unix socket holds 107 bytes, and a home folder may be deep. Through the descriptor of its folder every
 * socket has a short path.
 */
function socketPath(home: Home): { readonly path: string } & Disposable {
  if (!existsSync("/proc/self/fd")) {
    return { path: join(home.run, socketName), [Symbol.dispose]: () => {} };
  }
  const folder = openSync(home.run, "r");
  return {
    path: `/proc/self/fd/${folder}/${socketName}`,
    [Symbol.dispose]: () => closeSync(folder),
  };
}

export type ControlHandler = (request: ControlRequest) => Promise<SupervisorStatus>;

/** Only the holder of the home's lock serves, so a socket that is left there is stale. */
export async function serveControl(home: Home, handle: ControlHandler): Promise<AsyncDisposable> {
  rmSync(join(home.run, socketName), { force: true });
  const address = socketPath(home);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy()); // The asker went away.
    onLine(socket, (line) => {
      void answer(line, handle).then((reply) => socket.end(`${JSON.stringify(reply)}\n`));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.path, resolve);
  });
  chmodSync(join(home.run, socketName), 0o600);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
      address[Symbol.dispose]();
    },
  };
}

async function answer(line: string, handle: ControlHandler): Promise<ControlReply> {
  try {
    return { ok: true, status: await handle(JSON.parse(line) as ControlRequest) };
  } catch (error) {
    const code = error instanceof ClusterError ? error.code : "failed";
    return { ok: false, code, sentence: errorText(error) };
  }
}

/** Asks the supervisor; null when none answers there. Throws what it refuses. */
export async function ask(home: Home, request: ControlRequest): Promise<SupervisorStatus | null> {
  if (!existsSync(home.run)) return null;
  using address = socketPath(home);
  const limitMs = request.verb === "restart" ? limits.controlRestartMs : limits.controlStatusMs;
  const text = await exchange(address.path, `${JSON.stringify(request)}\n`, limitMs);
  if (text === null) return null;
  const reply = JSON.parse(text) as ControlReply;
  if (!reply.ok) throw new ClusterError(reply.code, reply.sentence);
  return reply.status;
}

/** Null when nobody listens, when the other side ended before it answered, or when it hangs. */
function exchange(path: string, line: string, limitMs: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => socket.write(line));
    socket.setTimeout(limitMs, () => socket.destroy());
    onLine(socket, (reply) => {
      resolve(reply);
      socket.destroy();
    });
    socket.on("close", () => resolve(null));
    socket.on("error", (error) => {
      const gone = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"].includes(
        errorCode(error) ?? "",
      );
      if (gone) resolve(null);
      else reject(error);
    });
  });
}

function onLine(socket: Socket, take: (line: string) => void): void {
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > limits.controlLineBytesMax) socket.destroy();
    const end = text.indexOf("\n");
    if (end < 0) return;
    socket.removeAllListeners("data");
    take(text.slice(0, end));
  });
}
