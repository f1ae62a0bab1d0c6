/** Tests of the spans of effects: a look is one if it commits, fails or takes long, and so is an action. */
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { atRest, ManualClock, SpanCollector } from "@trainyard/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { createRegistry } from "../service/telemetry.ts";
import { Executor } from "../work/executor.ts";
import { DueLoop } from "./due-loop.ts";
import { EffectLoop } from "./effect-loop.ts";
import type { EffectSpan } from "./effect-span.ts";

const logger = pino({ enabled: false });

/** Returns what is sent while a loop runs that is given a tracer. */
async function spansOf(run: (tracer: Tracer, clock: ManualClock) => Promise<void>) {
  await using collector = await SpanCollector.start();
  {
    await using stack = new AsyncDisposableStack();
    const clock = new ManualClock();
    const deps = { logger, registry: createRegistry("searcher"), stack, clock, version: "1" };
    await run(await openTracer("searcher", collector.variables, deps), clock);
  }
  return collector.spans;
}

test("a look is a span if it names it in a commit, fails or takes long", async () => {
  const named: string[] = [];
  const looks: ((clock: ManualClock, span: EffectSpan) => void)[] = [
    () => {},
    (_, span) => void named.push(span.traceparent, span.traceparent),
    () => {
      throw new Fault("disk_away", "a secret", { retry: "later" });
    },
    (clock) => clock.skip(100),
    (clock) => clock.skip(99),
  ];
  const spans = await spansOf(async (tracer, clock) => {
    const stop = new AbortController();
    const loop = new EffectLoop("sweep", { clock, logger }, async (_, span) => {
      looks.shift()?.(clock, span);
      if (looks.length === 0) stop.abort();
      return 0;
    });
    const running = loop.run(stop.signal, tracer);
    while (!stop.signal.aborted) await clock.advance(50);
    await running;
  });
  expect(spans.map(({ name }) => name)).toEqual(["effect sweep", "effect sweep", "effect sweep"]);
  const [commit, failed, long] = spans;
  expect(named).toEqual(Array(2).fill(`00-${commit?.traceId}-${commit?.spanId}-01`));
  expect(failed?.attributes).toMatchObject({ "error.type": "disk_away" });
  expect(long?.attributes).toEqual({});
  expect(spans.every(({ parentSpanId }) => !parentSpanId)).toBe(true);
});

test("an action at a time of the log is a span with its key and the position of its cause", async () => {
  const spans = await spansOf(async (tracer, clock) => {
    const log = createMemoryLog({ clock }).as("searcher");
    const executor = new Executor(log, new FoldCache(log));
    const stop = new AbortController();
    const named: string[] = [];
    const loop = new DueLoop(
      {
        ...{ name: "budgets", service: "searcher", lane: 1, causeOf: () => 7 },
        act: async (key, _, { span }) => {
          if (key === "2") named.push(span.traceparent);
          return null;
        },
      },
      { log, executor, clock, logger, onParked: () => {} },
    );
    loop.ask("1");
    loop.ask("2");
    const running = loop.run(stop.signal, tracer);
    await atRest();
    expect(named).toHaveLength(1);
    stop.abort();
    await running;
  });
  expect(spans).toMatchObject([
    { name: "effect budgets", attributes: { "trainyard.key": "2", "trainyard.position": 7 } },
  ]);
});
