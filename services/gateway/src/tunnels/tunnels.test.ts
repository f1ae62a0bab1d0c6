import { type Duplex, PassThrough } from "node:stream";
import { Fault } from "@trainyard/kernel";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { Problem } from "../http/problem.ts";
import { tunnelRoomLimits } from "./limits.ts";
import { Peers } from "./peers.ts";
import { TunnelRows } from "./rows.ts";
import { Tunnels } from "./tunnels.ts";
import { UnreadStreams } from "./unread-streams.ts";

const { signal } = new AbortController();
const port = { kind: "port", port: 8080 } as const;

/** A room of a gateway whose PostgreSQL is away, with a tunnel of one run. */
class Room {
  readonly clock = new ManualClock();
  readonly #logger = createLogger("gateway", "silent");
  readonly opened: string[] = [];
  readonly rows = new TunnelRows({
    query: () => Promise.reject(new Error("connect ECONNREFUSED")),
  } as never);
  readonly tunnels = new Tunnels({
    rows: this.rows,
    peers: new Peers({ keys: new Map(), clock: this.clock }),
    course: async () => ({ state: "runs", agent: "rack" }),
    unread: new UnreadStreams(this.clock, this.#logger),
    clock: this.clock,
    logger: this.#logger,
  });
  isOpen = true;
  check: () => Promise<unknown> = async () => {};

  constructor() {
    const closed = Promise.withResolvers<void>();
    this.tunnels.keep(
      "t1#1",
      {
        open: async (name): Promise<Duplex> => (this.opened.push(name), new PassThrough()),
        closed: closed.promise,
        close: () => {
          this.isOpen = false;
          closed.resolve();
        },
      },
      () => this.check(),
    );
  }

  /** Waits until the tokens of the tunnels were checked once. */
  async look(): Promise<void> {
    const stop = new AbortController();
    void this.tunnels.run(stop.signal);
    await this.clock.advance(tunnelRoomLimits.lookMs);
  }
}

test("streams by a replica's own tunnel are opened while PostgreSQL is away", async () => {
  const room = new Room();
  await room.tunnels.open("t1#1", port, signal);
  expect(room.opened).toEqual(["port-8080"]);
  await expect(room.tunnels.open("t2#1", port, signal)).rejects.toThrow("ECONNREFUSED");
});

test("a tunnel is closed when its token is no longer valid, and not while that is unknown", async () => {
  const room = new Room();
  room.check = () => Promise.reject(new Problem(503, "unavailable", "away"));
  await room.look();
  room.check = () => Promise.reject(new Fault("log_away", "away", { retry: "later" }));
  await room.look();
  expect(room.isOpen).toBe(true);
  room.check = () => Promise.reject(new Problem(410, "history_lost", "lost"));
  await room.look();
  expect(room.isOpen).toBe(false);
});

test("the end of a run closes its tunnel a second later, in which its last output passes", async () => {
  const room = new Room();
  room.tunnels.observed({ type: "AllocationEnded", stream: "allocation-t1#1" });
  room.tunnels.observed({ type: "AllocationEnded", stream: "allocation-t2#1" });
  await room.clock.advance(tunnelRoomLimits.afterEndMs - 1);
  expect(room.isOpen).toBe(true);
  await room.clock.advance(1);
  expect(room.isOpen).toBe(false);
});
