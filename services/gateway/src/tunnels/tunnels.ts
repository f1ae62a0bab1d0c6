/**
 * The tunnels of runs. An agent dials one replica for each of its runs that people reach, and this room keeps the
 * tunnel until the link breaks, the run ends, or its token is no longer valid. A row tells the other replicas where it
 * is, and they open their streams through this replica. The rows are hints: while PostgreSQL is away, open streams
 * continue, and streams by this replica's own tunnels are opened.
 */
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { type Clock, Fault, isFault, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { nameOfTarget, type Target, type Tunnel } from "@trainyard/tunnel";
import { Problem } from "../http/problem.ts";
import { tunnelRoomLimits } from "./limits.ts";
import { noTunnel, type Peers } from "./peers.ts";
import type { TunnelRows } from "./rows.ts";
import { type Course, whyNotConnected } from "./runs.ts";
import { bytesIn, type UnreadStreams } from "./unread-streams.ts";

export type TunnelsDeps = {
  readonly rows: TunnelRows;
  readonly peers: Peers;
  readonly unread: UnreadStreams;
  /** Returns the place and the state of a run, from the log. */
  readonly course: (allocation: string) => Promise<Course>;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Kept = {
  readonly allocation: string;
  readonly tunnel: Tunnel;
  readonly connection: string;
  /** Throws a Problem if the token with which the agent dialled is no longer valid, or the run has ended. */
  readonly check: () => Promise<unknown>;
};

export class Tunnels {
  readonly #deps: TunnelsDeps;
  readonly #kept = new Map<string, Kept>();
  /** The address at which the other replicas reach this one; known once the server listens. */
  #replica = "";

  constructor(deps: TunnelsDeps) {
    this.#deps = deps;
  }

  listensAt(address: string): void {
    this.#replica = address;
  }

  /** Keeps the tunnel of a run until it closes. A later tunnel of the run replaces it, since its link may be dead. */
  keep(allocation: string, tunnel: Tunnel, check: Kept["check"]): void {
    const kept = { allocation, tunnel, check, connection: randomUUID() };
    this.#kept.get(allocation)?.tunnel.close();
    this.#kept.set(allocation, kept);
    void this.#try("put", this.#deps.rows.put(kept, this.#replica));
    // The run may have ended since the agent dialled.
    void this.#check(kept);
    void tunnel.closed.then(() => {
      if (this.#kept.get(allocation) === kept) this.#kept.delete(allocation);
      void this.#try("remove", this.#deps.rows.remove(kept));
    });
  }

  /**
   * Opens a stream to a target of a run, by whichever replica has its tunnel. Throws a Fault: `not_connected` with the
   * reason, or the refusal of the agent: `undeclared_port`, `nothing_listens`, `foreign_process`.
   */
  async open(allocation: string, target: Target, signal: AbortSignal): Promise<Duplex> {
    const name = nameOfTarget(target);
    try {
      return await this.openHere(allocation, name, signal);
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    const replica = await this.#deps.rows.replicaOf(allocation);
    if (replica !== null && replica !== this.#replica) {
      try {
        return this.#watched(await this.#deps.peers.open(replica, allocation, name, signal));
      } catch (error) {
        if (!isAway(error)) throw error;
        this.#deps.logger.info({ err: error, replica, allocation }, "replica_has_no_tunnel");
      }
    }
    const course = await this.#deps.course(allocation);
    const retry = course.state === "ended" ? "never" : "later";
    throw new Fault("not_connected", whyNotConnected(allocation, course), { retry });
  }

  /** Opens a stream by a tunnel of this replica. */
  async openHere(allocation: string, name: string, signal: AbortSignal): Promise<Duplex> {
    const kept = this.#kept.get(allocation);
    if (kept === undefined) throw noTunnel();
    return this.#watched(await kept.tunnel.open(name, signal));
  }

  #watched(stream: Duplex): Duplex {
    this.#deps.unread.watch(stream, () => bytesIn(stream));
    return stream;
  }

  /** Closes the tunnel of a run that has ended. */
  observed({ type, stream }: Pick<StoredEvent, "type" | "stream">): void {
    if (shortNameOf(type) !== "AllocationEnded") return;
    const kept = this.#kept.get(stream.slice("allocation-".length));
    if (kept === undefined) return;
    this.#deps.clock.timer(tunnelRoomLimits.afterEndMs, () => kept.tunnel.close());
  }

  /** Refreshes the rows and checks the tokens at intervals, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, rows } = this.#deps;
    while (!signal.aborted) {
      await pause(clock, tunnelRoomLimits.lookMs, signal);
      if (signal.aborted) break;
      await this.#try("refresh", rows.refresh([...this.#kept.values()], this.#replica));
      for (const kept of this.#kept.values()) await this.#check(kept);
    }
    for (const { tunnel } of this.#kept.values()) tunnel.close();
    this.#deps.peers[Symbol.dispose]();
  }

  async #check({ allocation, tunnel, check }: Kept): Promise<void> {
    try {
      await check();
    } catch (error) {
      // A check that is not possible at present says nothing about the token.
      if (!(error instanceof Problem) || error.status >= 500) return;
      this.#deps.logger.info({ err: error, allocation }, "tunnel_closed_by_its_token");
      tunnel.close();
    }
  }

  async #try(what: string, work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) =>
      this.#deps.logger.warn({ err: error, what }, "tunnel_rows_unchanged"),
    );
  }
}

/** Returns whether the tunnel itself is missing, and not its target. */
function isAway(error: unknown): boolean {
  const codes = ["no_tunnel", "tunnel_closed", "tunnel_silent", "not_reached", "not_a_replica"];
  return isFault(error) && codes.includes(error.code);
}
