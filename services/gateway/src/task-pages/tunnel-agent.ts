/**
 * Connections to the servers of tasks, through the tunnels of their runs. With `keepAlive` a connection is kept for the
 * next request to the same target of the same run, for a while.
 */
import { Agent, type ClientRequest, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";
import { assert, type Clock } from "@trainyard/kernel";
import { nameOfTarget, parseTarget, type Target } from "@trainyard/tunnel";
import { taskPageLimits } from "./limits.ts";

export type OpenTunnel = (
  allocation: string,
  target: Target,
  signal: AbortSignal,
) => Promise<Duplex>;

type Connected = (error: Error | null, stream: Duplex) => void;

/** A connection may serve another request than the one for which it was opened, so none of them ends it. */
const never = new AbortController().signal;

export class TunnelAgent extends Agent {
  readonly #open: OpenTunnel;
  readonly #clock: Clock;
  /** The ends of the connections that no request uses. */
  readonly #idle = new WeakMap<Duplex, Disposable>();

  constructor(open: OpenTunnel, clock: Clock, keepAlive: boolean) {
    super({ keepAlive, maxFreeSockets: taskPageLimits.idleConnectionsMax });
    this.#open = open;
    this.#clock = clock;
  }

  /** The options for a request to a target of a run. Kept connections are known by this host: `t12#1 port-8080`. */
  static optionsFor(allocation: string, target: Target): Pick<ClientRequestArgs, "host"> {
    return { host: `${allocation} ${nameOfTarget(target)}` };
  }

  override createConnection({ host }: ClientRequestArgs, callback?: Connected): undefined {
    const [allocation = "", name = ""] = (host ?? "").split(" ");
    const target = parseTarget(name);
    assert(target !== null, "the host of a request has the name of a target");
    void this.#connect(allocation, target, callback);
  }

  /** Node's own timeout for these connections needs a socket. */
  override keepSocketAlive(stream: Duplex): void {
    const end = this.#clock.timer(taskPageLimits.idleConnectionMs, () => stream.destroy());
    this.#idle.set(stream, end);
    stream.once("close", () => end[Symbol.dispose]());
    return super.keepSocketAlive(stream);
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    this.#idle.get(stream)?.[Symbol.dispose]();
    super.reuseSocket(stream, request);
  }

  async #connect(allocation: string, target: Target, callback?: Connected): Promise<void> {
    try {
      callback?.(null, asSocket(await this.#open(allocation, target, never)));
    } catch (error) {
      callback?.(error as Error, undefined as unknown as Duplex);
    }
  }
}

const settings = ["setKeepAlive", "setNoDelay", "setTimeout", "ref", "unref"] as const;

/** Adds the settings of a socket, without effect, that a stream through a tunnel lacks: Node's agent sets them. */
function asSocket(stream: Duplex): Duplex {
  const socket = stream as Duplex & Record<(typeof settings)[number], unknown>;
  for (const name of settings) socket[name] ??= () => socket;
  return socket;
}
