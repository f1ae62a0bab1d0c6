/** Tests of a log that is restored from a backup, or failed over with loss, while a service uses it. */
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { AnyEvent, EventOf } from "@trainyard/contracts";
import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, expect, test, vi } from "vitest";
import type { Aggregate } from "../folds/folds.ts";
import { runtimeLimits } from "../limits.ts";
import { emptyMeta } from "../work/correlation.ts";
import { Partition, type Term } from "./partition.ts";

type Paused = EventOf<"ExperimentPaused">;

/** Counts how often an experiment was paused; every pause but the first is recorded in a second stream. */
const pauses: Aggregate<number, "pause", Paused> = {
  name: "pauses",
  category: "experiment",
  decider: {
    initial: 0,
    decide: () => [{ type: "ExperimentPaused", data: {} }],
    evolve: (count, event) => (event.type === "ExperimentPaused" ? count + 1 : count),
  },
};

const activated: AnyEvent = { type: "ExperimentActivated", data: {} };

let clock: ManualClock;
let hub: MemoryHub;
let log: MemoryLog;
let told: Record<string, unknown>[];
let terms = 0;
let seen: string[] = [];
/** Called before the log checks a commit of the service. */
let beforeCommit: () => void | Promise<void>;
/** Called before the service moves its cursor lazily; the move waits for the returned promise. */
let beforeMove: () => Promise<void>;
let stop: AbortController;

beforeEach(() => {
  clock = new ManualClock();
  hub = createMemoryBus({ clock });
  beforeCommit = () => {};
  beforeMove = async () => {};
  log = createMemoryLog({
    clock,
    beforeCall: (method, role) =>
      method === "moveCursor" && role === "experiments" ? beforeMove() : undefined,
    beforeCommit: (_, role) => (role === "experiments" ? beforeCommit() : undefined),
  });
  told = [];
  terms = 0;
  seen = [];
  stop = new AbortController();
});

async function tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
  const writes = [
    {
      stream,
      expectedVersion: log.store.version(stream),
      events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    },
  ];
  await log.as("others").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
}

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const removed: AnyEvent = { type: "PoolRemoved", data: {} };

/** Pauses each activated experiment; when a pool is removed, also the experiment with the pool's number. */
async function begin(): Promise<Term> {
  terms += 1;
  return {
    reactions: {
      handlers: {
        ExperimentActivated: async ({ id, stored }, work) => {
          const before = await work.load({ ...pauses.decider, ...pauses }, id);
          seen.push(`${id} at ${stored.position}: ${before}`);
          await work.decide(pauses, id, "pause");
        },
        PoolRemoved: async ({ id }, work) => {
          await work.decide(pauses, id, "pause");
        },
      },
    },
    commands: {},
  };
}

function start(): Promise<void> {
  const logger = pino(
    { level: "error" },
    { write: (line: string) => void told.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const deps = { log: log.as("experiments"), bus: hub.connect("experiments"), clock, logger };
  return new Partition("experiments", 0, deps, begin).run("one", stop.signal);
}

async function stopped(running: Promise<void>): Promise<void> {
  stop.abort();
  await clock.advance(runtimeLimits.silentBusMs);
  await running;
}

const written = (): readonly string[] =>
  log.store.events.map(({ stream, type }) => `${stream} ${type.split(".")[3]}`);
const aWhile = (): Promise<void> =>
  clock.advance(2 * runtimeLimits.retry.lastMs + 2 * runtimeLimits.leaseTtlMs);

test("a log that loses its last events ends the service's term, and the next term folds the current log", async () => {
  const running = start();
  await tell("experiment-1", activated);
  await aWhile();
  const restore = log.store.backup();
  await tell("experiment-1", activated);
  await aWhile();
  expect(seen).toEqual(["1 at 1: 0", "1 at 3: 1"]);
  const { position, id } = log.store.events.at(-1) ?? { position: 0, id: "" };
  restore();
  await aWhile();
  // The registry does not answer at first.
  const reported: unknown[] = [];
  await hub.connect("registry").serve("registry", {
    RecordRewind: async ({ body }) => {
      reported.push(JSON.parse(new TextDecoder().decode(body)));
      return { kind: "ok", body: new TextEncoder().encode("{}") };
    },
  });
  await clock.advance(runtimeLimits.effectRetry.lastMs);
  expect(reported).toEqual([{ position, event: id, noticedBy: "experiments" }]);
  expect(terms).toBe(2);
  expect(told).toMatchObject([{ msg: "term_ended_by_rewind", err: { code: "log_rewound" } }]);
  await tell("experiment-1", activated);
  await aWhile();
  // One pause is left, and the state that the handler saw confirms it.
  expect(seen.at(-1)).toBe("1 at 3: 1");
  expect(written()).toEqual([
    "experiment-1 ExperimentActivated",
    "experiment-1 ExperimentPaused",
    "experiment-1 ExperimentActivated",
    "experiment-1 ExperimentPaused",
  ]);
  await stopped(running);
});

test("an event that was lost while a service reacted to it has no effect", async () => {
  const running = start();
  await aWhile();
  await tell("experiment-1", activated);
  await aWhile();
  const restore = log.store.backup();
  beforeCommit = () => {
    beforeCommit = () => {};
    restore();
    throw new Fault("log_away", "the log failed over", { retry: "later" });
  };
  await tell("experiment-2", activated);
  await aWhile();
  expect(seen.at(-1)).toBe("2 at 3: 0");
  expect(written()).toEqual(["experiment-1 ExperimentActivated", "experiment-1 ExperimentPaused"]);
  // The cursor did not skip the event that replaced the lost one.
  await tell("experiment-3", activated);
  await aWhile();
  expect(seen.at(-1)).toBe("3 at 3: 0");
  await stopped(running);
});

/**
 * Before the next commit the log is restored to its present state, like a failover behind a proxy: no connection is
 * lost, and another event replaces the lost one.
 */
function goesBackBeforeTheNextCommit(stream: string, event: AnyEvent): void {
  const restore = log.store.backup();
  beforeCommit = async () => {
    beforeCommit = () => {};
    restore();
    await tell(stream, event);
  };
}

test("a holder that slept during a rewind moves no cursor under an epoch that was assigned again", async () => {
  const restore = log.store.backup();
  const running = start();
  await aWhile();
  const sleep = Promise.withResolvers<void>();
  const asleep = vi.fn<() => Promise<void>>(() => sleep.promise);
  beforeMove = asleep;
  await tell("experiment-9", paused, paused);
  await clock.advance(runtimeLimits.silentBusMs);
  expect(asleep).toHaveBeenCalledOnce();
  restore();
  // The log counts epochs from its current state, so this holder has the same epoch as the sleeping one.
  const other = log.as("experiments");
  expect(await other.acquireLease("experiments/0", "other", 60_000)).toMatchObject({ epoch: 1 });
  await tell("experiment-1", activated);
  await tell("experiment-2", activated);
  sleep.resolve();
  await aWhile();
  expect(log.store.cursor("experiments", 0)).toEqual({ position: 0, part: 0 });
  await other.releaseLease("experiments/0", "other");
  await aWhile();
  expect(seen).toEqual(["1 at 1: 0", "2 at 2: 0"]);
  await stopped(running);
});

test("a leader that outlasts a rewind of the log commits no reaction to lost events, and reacts to all new events", async () => {
  const running = start();
  await tell("experiment-1", activated);
  await aWhile();
  goesBackBeforeTheNextCommit("experiment-3", activated);
  await tell("pool-2", removed);
  await aWhile();
  expect(seen).toEqual(["1 at 1: 0", "3 at 3: 0"]);
  expect(written().filter((line) => line.startsWith("experiment-2"))).toEqual([]);
  expect(told).toMatchObject([{ msg: "term_ended_by_rewind", err: { code: "log_rewound" } }]);
  await stopped(running);
});

test("a decision that depends on a lost live event is not written", async () => {
  const running = start();
  await tell("experiment-1", activated);
  await aWhile();
  goesBackBeforeTheNextCommit("experiment-3", activated);
  await tell("pool-2", removed);
  const relay = hub.connect("relay");
  await relay.lastEvent();
  const origin = { log: log.store.events[0]?.id ?? "", epoch: "1" };
  await relay.publishEvents(log.store.events.slice(), origin);
  await aWhile();
  expect(seen).toEqual(["1 at 1: 0", "3 at 3: 0"]);
  await stopped(running);
});

test("a decision that depends on a lost event is not written, even if the stream has as many events again", async () => {
  const running = start();
  await tell("experiment-1", activated);
  await aWhile();
  goesBackBeforeTheNextCommit("experiment-1", paused);
  await tell("experiment-1", activated);
  await aWhile();
  expect(written()).toEqual([
    "experiment-1 ExperimentActivated",
    "experiment-1 ExperimentPaused",
    "experiment-1 ExperimentPaused",
  ]);
  await stopped(running);
});
