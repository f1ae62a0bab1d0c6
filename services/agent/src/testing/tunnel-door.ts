/** A gateway's door for tunnels: accepts the dial of every run, and opens streams. */
import { createServer, type IncomingMessage } from "node:http";
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

export async function startTunnelDoor(): Promise<TunnelDoor> {
  const door = new WebSocketDoor();
  const dials: Dial[] = [];
  const server = createServer((_request, response) => void response.writeHead(503).end());
  server.on("upgrade", (request: IncomingMessage, socket, head) => {
    door.accept(request, socket, head, { ...tunnelLink, clock: systemClock }, (link) => {
      const { url = "", headers } = request;
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
