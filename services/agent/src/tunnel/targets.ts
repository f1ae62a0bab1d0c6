/**
 * The targets of a run's tunnel: the holder of a task and the server of its page, what the agent knows of its use, and
 * each declared port while a process of the run listens on it. A container with a network of its own has no listeners
 * but its own; it is entered by a small process (network-dialer.ts).
 */
import { readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type TaskUse, TaskUseSchema } from "@trainyard/contracts/api";
import { Fault } from "@trainyard/kernel";
import { parseTarget } from "@trainyard/tunnel";
import { connectHolder, connectPage } from "../state/run-socket.ts";
import { isPageKind } from "../servers/kinds.ts";
import type { PortUse } from "../idle/port-use.ts";
import type { RunFolder } from "../state/run-folder.ts";
import {
  couldTake,
  dialAddressOf,
  heldBy,
  isHeld,
  type Listener,
  listenersOn,
} from "./listeners.ts";
import { NetworkDialer, notEntered } from "./network-dialer.ts";

export type TargetDeps = {
  readonly folder: Pick<RunFolder, "launch" | "process" | "runDir">;
  /** Returns the living processes of the run. */
  readonly pids: () => ReadonlySet<number>;
  /** Counts the bytes of the ports. */
  readonly ports: PortUse;
  /** Returns how the task is used at this moment. */
  readonly use: () => Plain<TaskUse>;
};

const uses = codecOf<Plain<TaskUse>>(TaskUseSchema);

/** A listener of the run: its address, its socket, and the descriptor of a process of the run. */
type Found = { readonly address: string; readonly inode: string; readonly path: string };

export class Targets implements Disposable {
  readonly #deps: TargetDeps;
  /** Listeners of the run that were found, by port. */
  readonly #found = new Map<number, Found>();
  /** The searches in progress, by port. */
  readonly #searches = new Map<number, Promise<Found>>();
  #dialer: NetworkDialer | null = null;

  constructor(deps: TargetDeps) {
    this.#deps = deps;
  }

  /** Opens the target with a name. Throws a Fault that says why it cannot be reached. */
  async open(name: string): Promise<Duplex> {
    const { launch, runDir } = this.#deps.folder;
    const target = parseTarget(name);
    if (launch.task !== undefined) {
      if (target?.kind === "holder") return connectHolder(runDir);
      if (target?.kind === "page" && isPageKind(launch.task.kind)) return connectPage(runDir);
      if (target?.kind === "use") return documentOf(uses.encode(this.#deps.use()));
    }
    if (target?.kind !== "port") {
      throw new Fault("no_target", `run ${launch.allocation} has no ${name}`, { retry: "never" });
    }
    if (!launch.proxyPorts.some(({ port }) => port === target.port))
      throw this.#undeclared(target.port);
    const leader = this.#deps.folder.process?.pid;
    if (leader === undefined) throw this.#nothing(target.port);
    const network = networkOf(leader);
    const { ports } = this.#deps;
    if (network === "own") return ports.add(await this.#openHere(target.port));
    if (network === "other") return ports.add(await this.#openInside(target.port, leader));
    if (network === "gone") throw this.#nothing(target.port);
    throw notEntered("it belongs to another user of the host", null);
  }

  async #openHere(port: number): Promise<Socket> {
    const found = this.#found.get(port);
    const known = found === undefined ? null : await connectedTo(found, port);
    if (known !== null) return known;
    const fresh = await this.#search(port);
    this.#found.set(port, fresh);
    const socket = await connectedTo(fresh, port);
    if (socket === null) throw this.#nothing(port);
    return socket;
  }

  /** Streams that ask at the same time share a search, which reads every descriptor of the run. */
  #search(port: number): Promise<Found> {
    const search =
      this.#searches.get(port) ?? this.#find(port).finally(() => this.#searches.delete(port));
    this.#searches.set(port, search);
    return search;
  }

  async #find(port: number): Promise<Found> {
    const listeners = await listenersOn(port);
    if (listeners.length === 0) throw this.#nothing(port);
    const inodes = new Set(listeners.map(({ inode }) => inode));
    const held = heldBy(this.#deps.pids(), inodes);
    for (const { address, inode } of listeners) {
      const path = held.get(inode);
      const dialled = dialAddressOf(address);
      // The address must lead to a listener of the run only.
      const isOwn = (other: Listener): boolean =>
        held.has(other.inode) || !couldTake(other, dialled);
      if (path !== undefined && listeners.every(isOwn)) return { address: dialled, inode, path };
    }
    throw this.#foreign(port);
  }

  async #openInside(port: number, leader: number): Promise<Socket> {
    this.#dialer ??= new NetworkDialer(leader);
    const dialer = this.#dialer;
    const socket = await dialer.connect(port).catch((error: unknown) => {
      // The next stream starts another process.
      dialer[Symbol.dispose]();
      if (this.#dialer === dialer) this.#dialer = null;
      throw error;
    });
    if (socket === null) throw this.#nothing(port);
    return socket;
  }

  [Symbol.dispose](): void {
    this.#dialer?.[Symbol.dispose]();
  }

  #undeclared(port: number): Fault {
    const { allocation } = this.#deps.folder.launch;
    const detail = `port ${port} is not in environment.proxy_ports of run ${allocation}`;
    return new Fault("undeclared_port", detail, { retry: "never" });
  }

  #nothing(port: number): Fault {
    const { allocation } = this.#deps.folder.launch;
    const detail = `no process of run ${allocation} listens on port ${port}`;
    return new Fault("nothing_listens", detail, { retry: "later" });
  }

  #foreign(port: number): Fault {
    const { allocation } = this.#deps.folder.launch;
    const detail = `a process that does not belong to run ${allocation} listens on port ${port} of its host`;
    return new Fault("foreign_process", detail, { retry: "later" });
  }
}

/** A stream that gives a text and ends. */
function documentOf(text: string): Duplex {
  return new Duplex({
    read() {
      this.push(text);
      this.push(null);
    },
    write: (_chunk, _encoding, done) => done(),
  });
}

/** Returns whether a process has the network of the agent's host. */
function networkOf(pid: number): "own" | "other" | "hidden" | "gone" {
  try {
    const isOwn = readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync("/proc/self/ns/net");
    return isOwn ? "own" : "other";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "hidden" : "gone";
  }
}

/**
 * Connects to a listener, if a process of the run holds its socket before and after. A process that has stopped
 * listening on a socket that it keeps could let the connection reach another program; it can reach that itself, too.
 */
async function connectedTo({ address, inode, path }: Found, port: number): Promise<Socket | null> {
  if (!isHeld(inode, path)) return null;
  const socket = await connected(address, port).catch(() => null);
  if (socket === null || isHeld(inode, path)) return socket;
  socket.destroy();
  return null;
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
