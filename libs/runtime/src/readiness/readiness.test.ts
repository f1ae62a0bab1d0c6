import { createMemoryBus } from "@trainyard/bus/testing";
import type { ParkedRow } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test } from "vitest";
import { ReadinessLines } from "./readiness-lines.ts";
import { type Follower, Readiness } from "./readiness.ts";
import { WriteWatch } from "./write-watch.ts";

let clock: ManualClock;
let head: number;
let failure: Error | null;
let followers: Follower[];
let decides: boolean;
let parked: ParkedRow[];
const hub = createMemoryBus();
const never = new AbortController().signal;

beforeEach(() => {
  clock = new ManualClock();
  [head, failure, followers] = [1, null, []];
  [decides, parked] = [true, []];
});

async function watching() {
  const bus = hub.connect("experiments");
  const log = {
    head: async () => {
      if (failure !== null) throw failure;
      return head;
    },
    parked: async () => parked,
  };
  const logger = pino({ enabled: false });
  const writes = new WriteWatch(clock);
  const own = { name: "experiments", followers: () => followers, decides: () => decides };
  const readiness = new Readiness({ bus, log, clock, logger, writes, ...own });
  /** Looks each 2 s, as the loop does. */
  const after = async (seconds: number, meanwhile = (): void => {}) => {
    for (let at = 0; at < seconds; at += 2) {
      await clock.advance(2_000);
      meanwhile();
      await readiness.look(never);
    }
    return readiness.outage() ?? readiness.late();
  };
  return { readiness, writes, after };
}

test("a process is unready when the database has been away for 10 s, and ready with its first answer", async () => {
  const { after } = await watching();
  expect(await after(2)).toBeNull();
  failure = new Error("connect ECONNREFUSED 127.0.0.1:5432");
  expect(await after(10)).toBeNull();
  expect(await after(2)).toBe(
    "the database has been away for 10 s (connect ECONNREFUSED 127.0.0.1:5432)",
  );
  failure = null;
  expect(await after(2)).toBeNull();
});

test("short failures of the database do not add up to an outage", async () => {
  const { after } = await watching();
  expect(await after(2)).toBeNull();
  for (let turn = 0; turn < 5; turn += 1) {
    failure = new Error("timeout");
    expect(await after(8)).toBeNull();
    failure = null;
    expect(await after(2)).toBeNull();
  }
});

test("a process is unready when the bus has been away for 10 s", async () => {
  const { after } = await watching();
  expect(await after(2)).toBeNull();
  hub.disconnect("experiments");
  expect(await after(10)).toBeNull();
  expect(await after(2)).toBe("the bus has been away for 10 s (the connection is cut)");
  hub.reconnect("experiments");
  expect(await after(2)).toBeNull();
});

test("a process names every server that is away", async () => {
  const { after } = await watching();
  expect(await after(2)).toBeNull();
  hub.disconnect("experiments");
  failure = new Error("timeout");
  expect(await after(12)).toBe(
    "the database has been away for 10 s (timeout); the bus has been away for 10 s (the connection is cut)",
  );
  hub.reconnect("experiments");
});

test("the log has a line for each change of the servers that are away, and none for the time that passes", () => {
  const lines: { msg: string; reason?: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as { msg: string });
  const told = new ReadinessLines(pino({}, { write }));
  const database = (s: number) => `the database has been away for ${s} s (connect (1) refused)`;
  const bus = "the bus has been away for 10 s (cut)";
  for (const reason of [database(10), database(12), `${database(14)}; ${bus}`, bus, null]) {
    told.now(reason, {});
  }
  expect(lines.map(({ msg, reason = "" }) => `${msg} ${reason}`.trim())).toEqual([
    `not_ready ${database(10)}`,
    `not_ready ${database(14)}; ${bus}`,
    `not_ready ${bus}`,
    "ready",
  ]);
});

test("a process that has never reached a server is unready at once", async () => {
  const { after, readiness } = await watching();
  const both = "the database has not answered yet; the bus has not answered yet";
  expect(readiness.outage()).toBe(both);
  failure = new Error('password authentication failed for user "ty_logs"');
  expect(await after(2)).toBe(
    'the database has not answered yet (password authentication failed for user "ty_logs")',
  );
});

test("a server that has never answered is asked at each look, and then at its own interval", async () => {
  let [isThere, asked] = [false, 0];
  const answers = async (): Promise<void> => {
    asked += 1;
    if (!isThere) throw new Error("connect ECONNREFUSED 127.0.0.1:8080");
  };
  const readiness = new Readiness({
    ...{ bus: hub.connect("agent"), clock, logger: pino({ enabled: false }), name: "agent" },
    peers: [{ name: "the API", link: "api", everyMs: 10_000, answers }],
    ...{ followers: () => [], decides: () => false },
  });
  const look = async (ms: number): Promise<number> => {
    await clock.advance(ms);
    await readiness.look(never);
    return asked;
  };
  expect([await look(0), await look(500), await look(500)]).toEqual([1, 2, 3]);
  isThere = true;
  expect(await look(500)).toBe(4);
  expect(readiness.outage()).toBeNull();
  expect([await look(5_000), await look(5_000), await look(500)]).toEqual([4, 5, 5]);
});

test("a process is unready while a database that answers refuses every write, until it takes one", async () => {
  const { after, writes } = await watching();
  const why = "the disk of the log's database is full while appending: could not extend file";
  const full = new Fault("log_full", why, { retry: "later" });
  const fail = () => writes.noted(full);
  expect(await after(8, fail)).toBeNull();
  expect(await after(6, fail)).toBe(`the database has refused writes for 12 s (${why})`);
  writes.noted(null);
  expect(await after(2)).toBeNull();
  expect(await after(14, () => writes.noted(new Fault("log_raced", "", { retry: "now" })))).toBe(
    null,
  );
});

test("refused writes are forgotten when nothing is appended any more", async () => {
  const { after, writes } = await watching();
  const full = new Fault("log_full", "the disk is full", { retry: "later" });
  expect(await after(20, () => writes.noted(full))).toContain("has refused writes");
  expect(await after(62)).toBeNull();
});

test("a reader that stalls is late after it has been 60 s behind for a minute", async () => {
  const { after } = await watching();
  followers = [{ name: "searcher", position: 1 }];
  expect(await after(600)).toBeNull();
  head = 9;
  expect(await after(120)).toBeNull();
  expect(await after(4)).toBe("searcher is 122 s behind the log (1 of 9 events)");
  followers = [{ name: "searcher", position: 9 }];
  expect(await after(2)).toBeNull();
});

test("a reader that moves but is always 90 s behind is late", async () => {
  const { after } = await watching();
  const move = (): void => {
    head += 2;
    followers = [{ name: "searcher", position: Math.max(1, head - 90) }];
  };
  followers = [{ name: "searcher", position: 1 }];
  expect(await after(200, move)).toMatch(/^searcher is (88|90) s behind the log/);
});

test("a reader that is 40 s behind a busy log is never late, and neither is a standby", async () => {
  const { after } = await watching();
  const move = (): void => {
    head += 2;
    followers = [
      { name: "searcher", position: Math.max(1, head - 40) },
      { name: "scheduler", position: null },
    ];
  };
  expect(await after(3_000, move)).toBeNull();
});

test("a reader is not late because the log went back", async () => {
  const { after } = await watching();
  head = 900;
  followers = [{ name: "searcher", position: 800 }];
  expect(await after(30)).toBeNull();
  head = 700;
  followers = [{ name: "searcher", position: 700 }];
  expect(await after(300)).toBeNull();
});

test("a reader that stalls for a day is late by a day, with bounded memory", async () => {
  const { after } = await watching();
  followers = [{ name: "searcher", position: 1 }];
  expect(await after(10_000, () => (head += 1))).toMatch(/^searcher is (999\d|10000) s behind/);
});

test("the links are up as /readyz says, without the addresses in their names", async () => {
  const { readiness, after } = await watching();
  expect(readiness.links()).toEqual([
    { link: "database", isUp: false },
    { link: "bus", isUp: false },
  ]);
  await after(2);
  expect(readiness.links().map(({ isUp }) => isUp)).toEqual([true, true]);
  failure = new Error("timeout");
  await after(12);
  expect(readiness.links().map(({ isUp }) => isUp)).toEqual([false, true]);
});

test("the lag of each reader is known in events and seconds, and a standby has none", async () => {
  const { readiness, after } = await watching();
  followers = [{ name: "the view gateway.documents", label: "documents", position: 4 }];
  followers.push({ name: "experiments", position: null });
  head = 10;
  await after(6);
  expect(readiness.lags()).toEqual([{ reader: "documents", events: 6, seconds: 4 }]);
  expect(readiness.head()).toBe(10);
});

test("the replica that decides counts the parked events every 5 s, also while the database is away", async () => {
  const { readiness, after } = await watching();
  await after(2);
  expect(readiness.parked()).toBe(0);
  const row = { consumer: "experiments", partition: 0, position: 1, key: "1", reason: "" };
  parked = [{ ...row, parkedAtMs: 0 }];
  await after(10);
  expect(readiness.parked()).toBe(1);
  decides = false;
  expect(readiness.parked()).toBeNull();
});
