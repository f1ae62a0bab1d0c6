import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, type EventOf, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault, idOf } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { EventFeed } from "../history/event-feed.ts";
import { Executor } from "../work/executor.ts";
import { type ReactionHandlers, ReactionLoop } from "./reactions.ts";

/** A stream that counts its received events. */
const counts: Aggregate<number, "count", EventOf<"ExperimentActivated">> = {
  name: "count",
  category: "experiment",
  decider: {
    initial: 0,
    decide: () => [{ type: "ExperimentActivated", data: {} }],
    evolve: (count) => count + 1,
  },
};

const handlers: ReactionHandlers = {
  ExperimentPaused: async ({ stored }, work) => {
    if (idOf(stored.stream) === "13") throw new Fault("bad", "no", { retry: "never" });
    await work.decide(counts, "99", "count");
  },
};

type Correlated = readonly { readonly stream: string; readonly correlation: string }[];

async function logOf(
  correlated: Correlated,
  faultAtCommit = 0,
  written = false,
): Promise<{
  readonly log: EventLog;
  readonly commits: () => number;
}> {
  let commits = 0;
  const strike = (): void => {
    throw new Fault("log_away", "the log cannot be reached", { retry: "later" });
  };
  const memory = createMemoryLog({
    beforeCommit: (_, role) => {
      if (role !== "experiments") return;
      commits += 1;
      if (commits === faultAtCommit && !written) strike();
    },
    afterCommit: (_, __, role) => {
      if (role === "experiments" && commits === faultAtCommit && written) strike();
    },
  });
  const others = memory.as("others");
  const versions = new Map<string, number>();
  for (const { stream, correlation } of correlated) {
    const expectedVersion = versions.get(stream) ?? 0;
    versions.set(stream, expectedVersion + 1);
    const event: AnyEvent = { type: "ExperimentPaused", data: {} };
    await others.append({
      commitId: newEventId(),
      writes: [{ stream, expectedVersion, events: [{ id: newEventId(), ...encodeEvent(event) }] }],
      guards: [],
      meta: {
        source: "/trainyard/test",
        workspace: "",
        correlationid: correlation,
        causationid: "",
        authid: "",
        traceparent: "",
      },
    });
  }
  return { log: memory.as("experiments"), commits: () => commits };
}

/** Processes the log to its end; returns how many events the stream received. */
async function reacted(log: EventLog, until: number): Promise<number> {
  const stop = new AbortController();
  await using feed = await EventFeed.open(log, createMemoryBus().connect("test"), systemClock);
  const seen: number[] = [];
  const spec = {
    service: "experiments",
    consumer: "experiments",
    partition: 0,
    handlers,
    eventsTogetherMax: 4,
    keyOf: ({ stream }: { readonly stream: string }) => stream,
    after: ({ position }: { readonly position: number }) => {
      seen.push(position);
      if (position >= until) stop.abort();
    },
  };
  const executor = new Executor(log, new FoldCache(log));
  const logger = pino({ enabled: false });
  await new ReactionLoop(spec, { log, feed, executor, clock: systemClock, logger }).run(
    stop.signal,
  );
  expect(seen.slice(0, until)).toEqual(Array.from({ length: until }, (_, n) => n + 1));
  return (await log.read("experiment-99", 0, 1_000)).length;
}

const same = (count: number, stream = "experiment-1"): Correlated =>
  Array.from({ length: count }, () => ({ stream, correlation: "one" }));

test("events of a backlog are processed in one commit, up to a maximum", async () => {
  const { log, commits } = await logOf(same(10));
  expect(await reacted(log, 10)).toBe(10);
  expect(commits()).toBe(3);
});

test("events with different correlation ids are never processed in one commit", async () => {
  const { log, commits } = await logOf([
    ...same(2),
    { stream: "experiment-1", correlation: "two" },
    ...same(2),
  ]);
  expect(await reacted(log, 5)).toBe(5);
  expect(commits()).toBe(3);
});

test.each([false, true])(
  "each event is processed once if a commit for several fails (written: %s)",
  async (written) => {
    const { log } = await logOf(same(9), 2, written);
    expect(await reacted(log, 9)).toBe(9);
  },
);

test("only the event that cannot be processed is parked, not those of the same commit", async () => {
  const { log } = await logOf([...same(2), ...same(1, "experiment-13"), ...same(3)]);
  expect(await reacted(log, 6)).toBe(5);
  expect(await log.parked()).toMatchObject([{ position: 3, key: "experiment-13" }]);
});
