/** `port-forward` of tasks and trials: local connections are passed on to a port that the run serves. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { finished } from "node:stream/promises";
import { splice } from "@trainyard/tunnel";
import type { Clock } from "@trainyard/kernel";
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { openStream, StreamRefused } from "../streams.ts";
import { Failure, UsageError } from "../usage-error.ts";

type Owner = "task" | "trial";
type Options = { readonly stdio?: boolean };
type Forward = { readonly port: number; readonly local: number };

export function addPortForward(group: Command, owner: Owner): void {
  group
    .command("port-forward")
    .argument(`<${owner}>`, owner === "task" ? "t12" : "12.1")
    .argument("<port...>", "a port of environment.proxy_ports, as 8080 or 8080:LOCAL")
    .option("--stdio", "one connection over stdin and stdout, for ProxyCommand of ssh")
    .description("serve its ports on 127.0.0.1, until Ctrl-C")
    .action(withPlatform<Options>((...given) => portForward(owner, ...given)));
}

async function portForward(
  owner: Owner,
  { client, output }: Context,
  [id = "", ...texts]: readonly string[],
  { stdio = false }: Options,
): Promise<void> {
  const forwards = texts.map(forwardOf);
  const pathOf = (port: number): string =>
    `/api/v1/${owner}s/${encodeURIComponent(id)}/streams/${port}`;
  if (stdio) {
    const [first, second] = forwards;
    if (first === undefined || second !== undefined) {
      throw new UsageError("With --stdio, name one port.");
    }
    return overStdio(pathOf(first.port), client.clock);
  }
  if (owner === "task") await client.call("getTask", { task: id });
  else await client.call("getTrial", { trial: id });
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  await using servers = new AsyncDisposableStack();
  const failed = Promise.withResolvers<never>();
  for (const { port, local } of forwards) {
    const pass = passingOn(pathOf(port), { client, output }, failed.reject);
    const server = servers.use(await listen(local, pass));
    const { port: bound } = server.address() as AddressInfo;
    output.line(
      output.json
        ? JSON.stringify({ address: `127.0.0.1:${bound}`, port })
        : // A browser that is signed in at 127.0.0.1 sends its cookie to each port there, and none to localhost.
          `localhost:${bound} is port ${port} of ${owner} ${id}`,
    );
  }
  await Promise.race([once(stop.signal, "abort"), failed.promise]);
}

function forwardOf(text: string): Forward {
  const [, port, local] = /^([0-9]{1,5})(?::([0-9]{1,5}))?$/.exec(text) ?? [];
  const forward = { port: Number(port), local: Number(local ?? port) };
  const isPort = forward.port >= 1 && forward.port <= 65_535 && forward.local <= 65_535;
  if (!isPort) throw new UsageError(`"${text}" is no port: write 8080, or 8080:LOCAL.`);
  return forward;
}

/**
 * A refusal that stays, such as an undeclared port, ends the command. Another one is said, and closes the connection.
 */
export function passingOn(
  path: string,
  { client: { clock }, output }: Context,
  fail: (error: unknown) => void,
): (socket: Socket) => void {
  const passOn = async (socket: Socket): Promise<void> => {
    try {
      await splice(socket, await openStream(path, clock));
    } catch (error) {
      socket.destroy();
      if (!(error instanceof StreamRefused) || !error.isPassing) return fail(error);
      output.note(error.message);
    }
  };
  return (socket) => {
    socket.on("error", () => {});
    void passOn(socket);
  };
}

/** Serves a port of 127.0.0.1, or any free one for 0. */
export async function listen(
  local: number,
  pass: (socket: Socket) => void,
): Promise<Server & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    pass(socket);
  });
  server.listen(local, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "it is in use" : String(error);
    throw new Failure(
      `Port ${local} of this machine cannot be served: ${why}. Name another one, as PORT:LOCAL.`,
    );
  }
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
}

async function overStdio(path: string, clock: Clock): Promise<void> {
  const stream = await openStream(path, clock);
  process.stdin.pipe(stream);
  stream.pipe(process.stdout);
  try {
    await finished(stream, { writable: false });
  } catch (error) {
    throw new Failure(
      `The connection broke: ${error instanceof Error ? error.message : String(error)}.`,
    );
  } finally {
    process.stdin.destroy();
    stream.destroy();
  }
}
