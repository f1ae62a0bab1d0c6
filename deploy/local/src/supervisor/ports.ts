/**
 * The ports of a cluster: chosen once, saved in `ports.json`, and used again unless another process listens there.
 *
 * New ones are drawn below the range from which the kernel takes the ports of outgoing connections (from 32,768 on
 * unless a system's setting says otherwise). A port inside that range could be taken by any connection while its
 * server is down, even by a client that, while trying to reach the server again, connects to itself.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { createServer } from "node:net";
import { readJson, readText, writeJson } from "../home/atomic-file.ts";
import { ClusterError } from "../cluster-error.ts";
import type { Home } from "../home/home.ts";

export type Ports = Readonly<Record<string, number>>;

export type PortWish = {
  readonly name: string;
  /** Chosen if it is free and no port was saved. */
  readonly preferred?: number;
};

/** Disposing of it ends the claims of the ports. */
export type ClaimedPorts = Disposable & { readonly ports: Ports };

/** The scheduler gives the ports from 20,000 on to runs, and the launcher takes its own from 30,000 on. */
const [lowest, end] = [10_000, 20_000];
const draws = 200;

export async function ensurePorts(home: Home, wishes: readonly PortWish[]): Promise<ClaimedPorts> {
  const kept = (readJson(home.portsFile) ?? {}) as Ports;
  const ports: Record<string, number> = { ...kept };
  const wanted = new Set(wishes.map((wish) => wish.name));
  const others = new Set(
    Object.entries(kept).flatMap(([name, port]) => (wanted.has(name) ? [] : [port])),
  );
  const claims: Socket[] = [];
  const isOurs = async (port: number): Promise<boolean> => {
    if (others.has(port) || !(await isFree(port))) return false;
    const socket = await claim(port);
    if (socket !== null) claims.push(socket);
    return socket !== null;
  };
  for (const wish of wishes) ports[wish.name] = await choose(wish, kept[wish.name], isOurs);
  if (JSON.stringify(ports) !== JSON.stringify(kept)) writeJson(home.portsFile, ports);
  return {
    ports,
    [Symbol.dispose]: () => {
      for (const socket of claims.splice(0)) socket.close();
    },
  };
}

async function choose(
  wish: PortWish,
  kept: number | undefined,
  isOurs: (port: number) => Promise<boolean>,
): Promise<number> {
  for (const port of [kept, wish.preferred]) {
    if (port !== undefined && (await isOurs(port))) return port;
  }
  const last = Math.min(end, ephemeralStart());
  for (let draw = 0; draw < draws; draw += 1) {
    const port = randomInt(lowest, last);
    if (await isOurs(port)) return port;
  }
  throw new ClusterError(
    "no_port",
    `No free port was found on 127.0.0.1 between ${lowest} and ${last}: end a program that holds many of them.`,
  );
}

/**
 * Claims a port for this process, the supervisor, as long as it lives: before a server listens there, and while it is
 * started again, another cluster would find the port free. The claim is a UDP socket with the number of the port, since
 * our servers use TCP alone. Null if another process has the claim.
 */
function claim(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => {
      socket.close();
      resolve(null);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      socket.unref();
      resolve(socket);
    });
  });
}

/** Whether a server could listen on this port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

function ephemeralStart(): number {
  const range = readText("/proc/sys/net/ipv4/ip_local_port_range");
  const start = Number(range?.trim().split(/\s+/)[0] ?? end);
  return start > lowest + draws ? start : end;
}
