/**
 * The ports of a cluster: chosen once, saved in `ports.json`, and used again unless another process listens there.
 *
 * New ones are drawn below the range from which the kernel takes the ports of outgoing connections (from 32,768 on
 * unless a system's setting says otherwise). A port inside that range could be taken by any connection while its
 * server is down, even by a client that, while trying to reach the server again, connects to itself.
 */
import { randomInt } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { readJson, readText, writeJson } from "../home/atomic-file.ts";
import { ClusterError, errorCode } from "../cluster-error.ts";
import type { Home } from "../home/home.ts";
import { tryLock } from "../processes/lock.ts";

export type Ports = Readonly<Record<string, number>>;

export type PortWish = {
  readonly name: string;
  /** Chosen if it is free and no port was saved. */
  readonly preferred?: number;
  /** True if a process of this cluster listens on the saved port, which is then used again. */
  readonly inUseByUs?: boolean;
};

/** The scheduler gives the ports from 20,000 on to runs, and the launcher takes its own from 30,000 on. */
const [lowest, end] = [10_000, 20_000];
const draws = 200;

export async function ensurePorts(home: Home, wishes: readonly PortWish[]): Promise<Ports> {
  const kept = (readJson(home.portsFile) ?? {}) as Ports;
  const ports: Record<string, number> = { ...kept };
  const wanted = new Set(wishes.map((wish) => wish.name));
  const taken = new Set(
    Object.entries(kept).flatMap(([name, port]) => (wanted.has(name) ? [] : [port])),
  );
  for (const wish of wishes) {
    const port = await choose(wish, kept[wish.name], taken);
    taken.add(port);
    ports[wish.name] = port;
  }
  if (JSON.stringify(ports) !== JSON.stringify(kept)) writeJson(home.portsFile, ports);
  return ports;
}

async function choose(
  wish: PortWish,
  kept: number | undefined,
  taken: ReadonlySet<number>,
): Promise<number> {
  if (kept !== undefined && wish.inUseByUs === true) {
    claim(kept);
    return kept;
  }
  const isOurs = async (port: number): Promise<boolean> =>
    !taken.has(port) && (await isFree(port)) && claim(port);
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
 * started again, another cluster of this user would find the port free.
 */
function claim(port: number): boolean {
  const folder = claimsFolder();
  // Without claims, the check that the port is free has to do.
  if (folder === null) return true;
  const own = join(folder, String(port));
  mkdirSync(own, { recursive: true });
  const result = tryLock(join(own, "lock"));
  return result.held || result.holder.pid === process.pid;
}

/** Null if temporary folders cannot be made, or if another user made one of that name, which is not to be trusted. */
function claimsFolder(): string | null {
  const uid = process.getuid?.() ?? 0;
  // A port belongs to the whole host, so processes with another TMPDIR must find the claims, too.
  const folder = join("/tmp", `trainyard-ports-${uid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return process.getuid === undefined || lstatSync(folder).uid === uid ? folder : null;
  } catch (error) {
    if (["EACCES", "EROFS", "ENOENT", "EEXIST"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
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
