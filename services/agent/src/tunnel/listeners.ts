/**
 * The TCP sockets that listen on a port, from /proc/net/tcp and tcp6 of a network namespace (proc(5)), and the
 * processes that hold them. An agent's host has other services on its loopback, so a port of a run is connected to only
 * while a process of the run listens on it.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";

export type Listener = {
  /** The address on which it listens, such as 0.0.0.0, 127.0.0.1 or ::1. */
  readonly address: string;
  /** The number of the socket, which is unique while it is open. */
  readonly inode: string;
};

/**
 * Returns the listeners on a port of this host. The kernel walks through all of its sockets for this, which takes some
 * 20 ms on a busy host: in another thread.
 */
export async function listenersOn(port: number): Promise<readonly Listener[]> {
  const tables = ["tcp", "tcp6"].map(async (table) =>
    parseListeners(await readFile(`/proc/net/${table}`, "utf8").catch(() => ""), port),
  );
  return (await Promise.all(tables)).flat();
}

/** The state LISTEN. */
const listens = "0A";

export function parseListeners(table: string, port: number): readonly Listener[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    if (state !== listens || !local.endsWith(suffix)) return [];
    return { address: addressOf(local.slice(0, -suffix.length)), inode };
  });
}

/** Reads an address of the table: 32-bit words in the byte order of the host, which is little endian. */
function addressOf(hex: string): string {
  const bytes =
    hex.match(/.{8}/g)?.flatMap((word) => [...Buffer.from(word, "hex")].reverse()) ?? [];
  if (bytes.length === 4) return bytes.join(".");
  const isV4 =
    bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (isV4) return bytes.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  const text = groups.join(":");
  if (text === "0:0:0:0:0:0:0:0") return "::";
  return text === "0:0:0:0:0:0:0:1" ? "::1" : text;
}

/** Returns those of the sockets that the processes hold, each with the path of a descriptor (`isHeld`). */
export function heldBy(
  pids: Iterable<number>,
  inodes: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const held = new Map<string, string>();
  for (const pid of pids) {
    for (const name of namesIn(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${name}`;
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(path))?.[1];
      if (inode !== undefined && inodes.has(inode)) held.set(inode, path);
      if (held.size === inodes.size) return held;
    }
    if (held.size === inodes.size) break;
  }
  return held;
}

/** Returns whether a process still holds a socket by this descriptor. */
export const isHeld = (inode: string, path: string): boolean =>
  linkOf(path) === `socket:[${inode}]`;

/** The address at which a listener is connected to from its own host. */
export function dialAddressOf(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}

/** Returns whether a connection to the address could reach the listener. */
export function couldTake(listener: Listener, address: string): boolean {
  if (listener.address === "::") return true;
  if (listener.address === "0.0.0.0") return !address.includes(":");
  return listener.address === address;
}

/** Empty for a process that has ended, or that this user may not read. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
