/**
 * Connections to the servers of tasks, through the tunnels of their runs. A connection is kept for the next request to
 * the same port of the same run.
 */
import { Agent, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";
import type { Target } from "@trainyard/tunnel";
import { taskPageLimits } from "./limits.ts";

export type OpenTunnel = (
  allocation: string,
  target: Target,
  signal: AbortSignal,
) => Promise<Duplex>;

/** A connection may serve another request than the one for which it was opened, so none of them ends it. */
const never = new AbortController().signal;

export class TunnelAgent extends Agent {
  readonly #open: OpenTunnel;

  constructor(open: OpenTunnel) {
    super({ keepAlive: true, maxFreeSockets: taskPageLimits.idleConnectionsMax });
    this.#open = open;
  }

  /** The options for a request to a port of a run: its name here is `<run>:<port>`. */
  static optionsFor(allocation: string, port: number): Pick<ClientRequestArgs, "host" | "port"> {
    return { host: allocation, port };
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const target = { kind: "port", port: Number(port) } as const;
    this.#open(host ?? "", target, never).then(
      (stream) => callback?.(null, asSocket(stream)),
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
  }
}

const settings = ["setKeepAlive", "setNoDelay", "setTimeout", "ref", "unref"] as const;

/** Adds the settings of a socket, without effect, that a stream through a tunnel lacks: Node's agent sets them. */
function asSocket(stream: Duplex): Duplex {
  const socket = stream as Duplex & Record<(typeof settings)[number], unknown>;
  for (const name of settings) socket[name] ??= () => socket;
  return socket;
}
