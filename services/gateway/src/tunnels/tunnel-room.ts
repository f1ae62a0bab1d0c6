/** The tunnels of a replica, with the doors through which agents and other replicas come in. */
import type { KeyObject } from "node:crypto";
import type { Clock } from "@trainyard/kernel";
import type { FoldCache, Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { Caller, Credentials } from "../http/caller.ts";
import type { UpgradeRoute } from "../http/upgrades.ts";
import { OpenStreams } from "../http/open-streams.ts";
import { courseOfRun } from "../streams.ts";
import { agentDoor } from "./agent-door.ts";
import { tunnelRoomLimits } from "./limits.ts";
import { peerDoor, Peers } from "./peers.ts";
import { TunnelRows } from "./rows.ts";
import type { Course } from "./runs.ts";
import { Tunnels } from "./tunnels.ts";
import { UnreadStreams } from "./unread-streams.ts";

export type TunnelRoomDeps = {
  readonly pool: Pool;
  readonly cache: FoldCache;
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type TunnelRoom = {
  readonly tunnels: Tunnels;
  readonly doors: readonly UpgradeRoute[];
  /** Counts the streams of people, and their requests to pages of tasks. */
  readonly openStreams: OpenStreams;
  readonly unread: UnreadStreams;
};

export function tunnelRoom(deps: TunnelRoomDeps): TunnelRoom {
  const { pool, cache, keys, authenticate, clock, logger } = deps;
  const course = async (allocation: string): Promise<Course> =>
    (await cache.load(courseOfRun, allocation)).state;
  const peering = { keys, clock };
  const rows = new TunnelRows(pool);
  const unread = new UnreadStreams(clock, logger);
  const peers = new Peers(peering);
  const tunnels = new Tunnels({ rows, peers, unread, course, clock, logger });
  return {
    tunnels,
    unread,
    openStreams: new OpenStreams({
      ofOneMax: tunnelRoomLimits.streamsOfOneMax,
      ofAllMax: tunnelRoomLimits.streamsMax,
    }),
    doors: [
      agentDoor({ tunnels, course, authenticate, clock }),
      peerDoor(peering, (...stream) => tunnels.openHere(...stream)),
    ],
  };
}
