/**
 * Streams through other replicas: one tunnel for each run whose tunnel another replica has, so that the streams of one
 * run use up none of another's. It is closed when nobody has used it for a while.
 */
import type { KeyObject } from "node:crypto";
import type { Duplex } from "node:stream";
import { type Clock, Fault } from "@trainyard/kernel";
import { dialWebSocket, openTunnel, serveTunnel, type Tunnel, tunnelLink } from "@trainyard/tunnel";
import { Problem } from "../http/problem.ts";
import type { UpgradeRoute } from "../http/upgrades.ts";
import { tunnelRoomLimits } from "./limits.ts";
import { isPeerCredential, peerCredential } from "./peer-credential.ts";

/** The path of the door between replicas, which only serves tunnels. */
export const peerPath = "/peer/v1/tunnel";

export type PeersDeps = {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly clock: Clock;
};

type Kept = { readonly tunnel: Promise<Tunnel>; streams: number; idle: Disposable | null };

export class Peers implements Disposable {
  readonly #deps: PeersDeps;
  readonly #kept = new Map<string, Kept>();

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
    const key = `${address} ${allocation}`;
    const kept = this.#kept.get(key) ?? {
      tunnel: this.#dial(address, key),
      streams: 0,
      idle: null,
    };
    this.#kept.set(key, kept);
    kept.idle?.[Symbol.dispose]();
    kept.streams += 1;
    const closed = (): void => {
      kept.streams -= 1;
      if (kept.streams === 0) kept.idle = this.#closeLater(kept);
    };
    try {
      const name = `${target}.${Buffer.from(allocation).toString("base64url")}`;
      const stream = await (await kept.tunnel).open(name, signal);
      stream.once("close", closed);
      return stream;
    } catch (error) {
      closed();
      throw error;
    }
  }

  #closeLater({ tunnel }: Kept): Disposable {
    return this.#deps.clock.timer(tunnelRoomLimits.peerIdleMs, () => void close(tunnel));
  }

  async #dial(address: string, key: string): Promise<Tunnel> {
    const { keys, clock } = this.#deps;
    try {
      const headers = { authorization: peerCredential(keys, clock.nowMs()) };
      const link = await dialWebSocket(`${address}${peerPath}`, { ...tunnelLink, clock, headers });
      const tunnel = openTunnel(link, { clock });
      void tunnel.closed.then(() => this.#kept.delete(key));
      return tunnel;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const { tunnel, idle } of this.#kept.values()) {
      idle?.[Symbol.dispose]();
      void close(tunnel);
    }
  }
}

async function close(tunnel: Promise<Tunnel>): Promise<void> {
  await tunnel.then(
    (open) => open.close(),
    () => {},
  );
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
