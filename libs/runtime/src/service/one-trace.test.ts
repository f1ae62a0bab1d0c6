import { createMemoryBus } from "@trainyard/bus/testing";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { assert } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { SpanCollector } from "@trainyard/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import {
  accepted,
  commandHandlers,
  encodeRequest,
  type CommandContext,
} from "../commands/commands.ts";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { EventFeed } from "../history/event-feed.ts";
import { ReactionLoop } from "../reactions/reactions.ts";
import { createRegistry } from "./telemetry.ts";
import { Executor } from "../work/executor.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import { tracedBus, tracedLog } from "../tracing/traced-ports.ts";

const service = "experiments";
const logger = pino({ enabled: false });

type Asked = { type: "ExperimentStopRequested"; data: { kind: 1; reason: string } };

/** A stream that records each request. */
const asked: Aggregate<null, string, Asked> = {
  name: "asked",
  category: "experiment",
  decider: {
    initial: null,
    decide: (_, reason) => [{ type: "ExperimentStopRequested", data: { kind: 1, reason } }],
    evolve: () => null,
  },
};

/** Sends a command whose commit causes a reaction on another stream; returns the stored events. */
async function commandAndReaction(collector: SpanCollector, traceparent: string) {
  await using stack = new AsyncDisposableStack();
  const own = { clock: systemClock, version: "1" };
  const deps = { logger, registry: createRegistry(service), stack, ...own };
  const tracer = await openTracer(service, collector.variables, deps);
  const log = tracedLog(createMemoryLog().as(service), tracer);
  const hub = createMemoryBus();
  const bus = tracedBus(hub.connect(service), tracer);
  const executor = new Executor(log, new FoldCache(log));
  const PauseExperiment = async (_: never, { identity }: CommandContext) =>
    accepted(
      await executor.execute(identity, async (work) => {
        await work.decide(asked, "1", "a secret");
      }),
    );
  const handlers = commandHandlers(service, { PauseExperiment }, logger, { tracer });
  stack.use(await bus.serve(service, handlers));
  const headers = { commitId: newEventId(), authid: "", traceparent, correlationid: "" };
  const body = encodeRequest(service, "PauseExperiment", { experiment: "1" });
  await bus.request(service, "PauseExperiment", { headers, body }, 5_000);
  await using feed = await EventFeed.open(log, bus, systemClock);
  const stop = new AbortController();
  const loop = new ReactionLoop(
    {
      ...{ service, consumer: service, partition: 0 },
      handlers: {
        ExperimentStopRequested: async ({ id }, work) => {
          if (id === "1") await work.decide(asked, "2", "a secret");
        },
      },
      after: ({ position }) => {
        if (position === 2) stop.abort();
      },
    },
    { log, feed, executor, clock: systemClock, logger, tracer },
  );
  await loop.run(stop.signal);
  return log.readAll(0, 10);
}

test("a command, its commit, a reaction and its commit are one trace, and each event names its append", async () => {
  await using collector = await SpanCollector.start();
  const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const events = await commandAndReaction(collector, caller);
  const appends = collector.spans.filter(({ name }) => name === "append");
  expect(events.map(({ meta }) => meta.traceparent)).toEqual(
    appends.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  );
  const [client] = collector.spans.filter(
    ({ parentSpanId }) => parentSpanId === caller.split("-")[2],
  );
  assert(client !== undefined, "the command is under its caller");
  const [, last] = appends;
  assert(last !== undefined, "the reaction has appended");
  expect(collector.above(last).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "3 experiments PauseExperiment",
    "2 experiments PauseExperiment",
    "1 append",
    "5 react ExperimentStopRequested",
    "1 append",
  ]);
  // The reaction to the second event decided nothing.
  expect(collector.spans).toHaveLength(5);
  expect(new Set(collector.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(collector.text).not.toContain("a secret");
  expect(collector.problems).toEqual([]);
});

test("a trace whose first service does not sample it has no spans, and its events keep its name", async () => {
  await using collector = await SpanCollector.start();
  const unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  const events = await commandAndReaction(collector, unsampled);
  expect(events.map(({ meta }) => meta.traceparent)).toEqual([unsampled, unsampled]);
  expect(collector.spans).toEqual([]);
});

test("a bad traceparent of a command is ignored, and its commit begins a trace", async () => {
  await using collector = await SpanCollector.start();
  const events = await commandAndReaction(collector, "not one");
  expect(collector.spans.map(({ name }) => name)).toEqual([
    "append",
    "append",
    "react ExperimentStopRequested",
  ]);
  const [first] = collector.spans;
  expect(first?.parentSpanId).toBe("");
  expect(events[0]?.meta.traceparent).toBe(`00-${first?.traceId}-${first?.spanId}-01`);
});
