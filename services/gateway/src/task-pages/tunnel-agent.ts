/**
 * Connections to the servers of tasks, through the tunnels of their runs. With `keepAlive` a connection is kept for the
 * next request to the same port of the same run.
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

type Connected = (error: Error | null, stream: Duplex) => void;

/** A connection may serve another request than the one for which it was opened, so none of them ends it. */
const never = new AbortController().signal;

export class TunnelAgent extends Agent {
  readonly #open: OpenTunnel;

  constructor(open: OpenTunnel, keepAlive: boolean) {
    super({ keepAlive, maxFreeSockets: taskPageLimits.idleConnectionsMax });
    this.#open = open;
  }

  /** The options for a request to a port of a run: its name here is `<run>:<port>`. */
  static optionsFor(allocation: string, port: number): Pick<ClientRequestArgs, "host" | "port"> {
    return { host: allocation, port };
  }

  override createConnection({ host, port }: ClientRequestArgs, callback?: Connected): undefined {
    void this.#connect(host ?? "", Number(port), callback);
  }

  async #connect(allocation: string, port: number, callback?: Connected): Promise<void> {
    try {
      callback?.(null, asSocket(await this.#open(allocation, { kind: "port", port }, never)));
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
