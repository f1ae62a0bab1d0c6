/**
 * The protocol between the command line and the supervisor: a unix socket in the home's run folder, one JSON line each
 * way per connection. Every user who may enter that folder (mode 0700) may send requests.
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
  /** The current step of the start, for display. */
  readonly step: string;
  /** The reason for which the cluster is not ready and cannot become so by itself. */
  readonly failure: string | null;
  readonly cluster: ClusterInfo | null;
};

export type ControlReply =
  | { readonly ok: true; readonly status: SupervisorStatus }
  | { readonly ok: false; readonly code: string; readonly sentence: string };

const socketName = "control.sock";

/**
 * A unix socket's path has at most 107 bytes, and a home folder may be deep. A path through the folder's file
 * descriptor is always short.
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

/** Only the holder of the home's lock serves, so an existing socket file is stale. */
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

/** Sends a request to the supervisor; null when no supervisor answers. Throws when the request is refused. */
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

/** Null when no process listens, when the connection ends before the answer, or on a timeout. */
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
