/** A gateway's door for tunnels: accepts the dial of every run, and opens streams. */
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@trainyard/kernel/system-clock";
import { openTunnel, type Tunnel, tunnelLink, WebSocketDoor } from "@trainyard/tunnel";

export type Dial = {
  readonly path: string;
  readonly authorization: string;
  readonly atMs: number;
  readonly tunnel: Tunnel;
};

export type TunnelDoor = AsyncDisposable & { readonly url: string; readonly dials: Dial[] };

/** `behind` is the address of a server that answers other requests; without one they get 503. */
export async function startTunnelDoor(
  behind: () => string | null = () => null,
): Promise<TunnelDoor> {
  const door = new WebSocketDoor();
  const dials: Dial[] = [];
  const server = createServer((asked, response) => {
    const url = behind();
    if (url === null) return void response.writeHead(503).end();
    const { method, headers } = asked;
    const passed = request(`${url}${asked.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    asked.pipe(passed);
  });
  server.on("upgrade", (asked: IncomingMessage, socket, head) => {
    door.accept(asked, socket, head, { ...tunnelLink, clock: systemClock }, (link) => {
      const { url = "", headers } = asked;
      const tunnel = openTunnel(link, { clock: systemClock });
      const { authorization = "" } = headers;
      dials.push({ path: url, authorization, atMs: performance.now(), tunnel });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dials,
    async [Symbol.asyncDispose]() {
      for (const { tunnel } of dials) tunnel.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
