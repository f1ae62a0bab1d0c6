/** Streams through other replicas: one tunnel to each replica that has a tunnel which this one needs. */
import type { KeyObject } from "node:crypto";
import type { Duplex } from "node:stream";
import { type Clock, Fault } from "@trainyard/kernel";
import { dialWebSocket, openTunnel, serveTunnel, type Tunnel, tunnelLink } from "@trainyard/tunnel";
import { Problem } from "../http/problem.ts";
import type { UpgradeRoute } from "../http/upgrades.ts";
import { isPeerCredential, peerCredential } from "./peer-credential.ts";

/** The path of the door between replicas, which only serves tunnels. */
export const peerPath = "/peer/v1/tunnel";

export type PeersDeps = {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly clock: Clock;
};

export class Peers implements Disposable {
  readonly #deps: PeersDeps;
  readonly #tunnels = new Map<string, Promise<Tunnel>>();

  constructor(deps: PeersDeps) {
    this.#deps = deps;
  }

  /** Opens a stream to a target of a run whose tunnel the replica at the address has. */
  async open(
    address: string,
    allocation: string,
    target: string,
    signal: AbortSignal,
  ): Promise<Duplex> {
    const known = this.#tunnels.get(address) ?? this.#dial(address);
    this.#tunnels.set(address, known);
    return (await known).open(`${target}.${Buffer.from(allocation).toString("base64url")}`, signal);
  }

  async #dial(address: string): Promise<Tunnel> {
    const { keys, clock } = this.#deps;
    try {
      const headers = { authorization: peerCredential(keys, clock.nowMs()) };
      const link = await dialWebSocket(`${address}${peerPath}`, { ...tunnelLink, clock, headers });
      const tunnel = openTunnel(link, { clock });
      void tunnel.closed.then(() => this.#tunnels.delete(address));
      return tunnel;
    } catch (error) {
      this.#tunnels.delete(address);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const tunnel of this.#tunnels.values()) {
      tunnel.then(
        ({ close }) => close(),
        () => {},
      );
    }
  }
}

/** The door for other replicas: `open` opens a stream by a tunnel of this replica. */
export function peerDoor(
  { keys, clock }: PeersDeps,
  open: (allocation: string, target: string, signal: AbortSignal) => Promise<Duplex>,
): UpgradeRoute {
  return {
    name: "peer-tunnel",
    path: /^\/peer\/v1\/tunnel$/,
    async serve({ request, accept }) {
      if (!isPeerCredential(keys, request.headers.authorization, clock.nowMs())) {
        throw new Problem(401, "not_a_replica", "only replicas of this gateway are admitted here");
      }
      accept(tunnelLink, (link) => {
        serveTunnel(link, async (name, signal) => {
          const [target = "", allocation = ""] = name.split(".");
          return open(Buffer.from(allocation, "base64url").toString("utf8"), target, signal);
        });
      });
    },
  };
}

/** The refusal of a replica whose tunnel has gone since its row was read. */
export const noTunnel = (): Fault =>
  new Fault("no_tunnel", "the replica has no tunnel of this run", { retry: "later" });
