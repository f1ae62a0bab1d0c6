/** The two ends of a tunnel over real sockets, with a relay between them that can be cut, silenced and slowed down. */
import { createServer, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { type Duplex, PassThrough, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "@trainyard/kernel";
import {
  openTunnel,
  type OpenTarget,
  serveTunnel,
  type Tunnel,
  type TunnelEnd,
} from "../tunnel.ts";
import { dialWebSocket, tunnelLink, WebSocketDoor } from "../web-sockets.ts";

export type Relay = {
  /** Closes its connections, as the kernel does when a process at one end dies. */
  cut(): void;
  /** Passes nothing on, without closing anything. */
  silence(): void;
};

export type TunnelFixture = AsyncDisposable & {
  /** The end that opens streams, and the end that serves them. */
  readonly asking: Tunnel;
  readonly serving: TunnelEnd;
  readonly relay: Relay;
};

export type FixtureOptions = {
  readonly clock: Clock;
  readonly open: OpenTarget;
  /** The bytes that the relay passes on in a millisecond; by default all. */
  readonly bytesPerMs?: number;
};

export type OpenFixture = (options: FixtureOptions) => Promise<TunnelFixture>;

/** Opens the ends; `through` puts a server between them, and returns its port. */
export async function openOverWebSocket(
  options: FixtureOptions,
  through: (port: number) => Promise<{ readonly port: number; readonly server: Server | null }>,
): Promise<TunnelFixture> {
  const { clock } = options;
  const door = new WebSocketDoor();
  const asking = Promise.withResolvers<Tunnel>();
  const server = createServer().on("upgrade", (request, socket, head) =>
    door.accept(request, socket, head, { ...tunnelLink, clock }, (link) =>
      asking.resolve(openTunnel(link, { clock })),
    ),
  );
  const proxy = await through(await listen(server));
  const relay = await startRelay(proxy.port, options.bytesPerMs);
  const address = `ws://127.0.0.1:${relay.port}/`;
  const link = await dialWebSocket(address, { ...tunnelLink, clock, headers: {} });
  const serving = serveTunnel(link, options.open);
  const ends = { asking: await asking.promise, serving };
  return {
    ...ends,
    relay,
    async [Symbol.asyncDispose]() {
      ends.serving.close();
      ends.asking.close();
      relay.close();
      server.close();
      server.closeAllConnections();
      proxy.server?.close();
      proxy.server?.closeAllConnections();
    },
  };
}

/** A proxy as in front of a gateway: it parses HTTP/1.1, and knows no protocol besides except WebSockets. */
export async function startProxy(to: number): Promise<{ port: number; server: Server }> {
  const server = createServer((_request, response) => response.writeHead(502).end());
  server.on("upgrade", (request, socket: Socket, first) => {
    const { headers, method, url } = request;
    const passed = httpRequest({ host: "127.0.0.1", port: to, method, path: url, headers });
    passed.on("upgrade", (answer, far: Socket, head) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      far.write(first);
      socket.write(head);
      socket.pipe(far).pipe(socket);
      for (const one of [socket, far]) {
        one.on("error", () => {}).on("close", () => (socket.destroy(), far.destroy()));
      }
    });
    passed.end();
  });
  return { port: await listen(server), server };
}

async function startRelay(
  to: number,
  bytesPerMs = Number.POSITIVE_INFINITY,
): Promise<Relay & { readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const pass = async (from: Socket, into: Socket): Promise<void> => {
    for await (const chunk of from) {
      while (isSilent) await sleep(20, undefined, { ref: false });
      if (Number.isFinite(bytesPerMs)) await sleep(chunk.length / bytesPerMs);
      if (!into.write(chunk)) await new Promise((resolve) => into.once("drain", resolve));
    }
    into.end();
  };
  const server = createTcpServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const one of [near, far]) {
      sockets.add(one);
      one.on("error", () => {});
    }
    for (const ended of [pass(near, far), pass(far, near)]) {
      void ended.catch(() => {
        near.destroy();
        far.destroy();
      });
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: await listen(server),
    cut,
    silence: () => (isSilent = true),
    close() {
      cut();
      server.close();
    },
  };
}

function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** A target that returns what it gets. */
export const echo = async (): Promise<Duplex> => new PassThrough();

/** An endless source that counts the bytes that were taken from it. */
export class Flood extends Readable {
  taken = 0;
  readonly #bytesMax: number;
  readonly #chunk = Buffer.alloc(64 * 1024, 7);

  constructor(bytesMax = Number.POSITIVE_INFINITY) {
    super();
    this.#bytesMax = bytesMax;
  }

  override _read(): void {
    if (this.taken >= this.#bytesMax) return void this.push(null);
    this.taken += this.#chunk.length;
    this.push(this.#chunk);
  }
}

/** Counts the bytes and does not keep them. */
export class Drain extends Writable {
  bytes = 0;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.bytes += chunk.length;
    done();
  }
}

export async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Polls until the value is the same for 300 ms. */
export async function settled(value: () => number): Promise<number> {
  for (let last = value(); ; last = value()) {
    await sleep(300);
    if (value() === last) return last;
  }
}
