/** The traces of a submit and of a report that stops a trial, as a collector receives them. */
import { assert } from "@trainyard/kernel";
import type { CollectedSpan } from "@trainyard/testing";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { collector, world } from "./cluster.ts";

const config = `
name: traced
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
hyperparameters: { lr: 0.5 }
early_stopping: [{ name: threshold, lower: 0.7, grace: 3 }]
environment: { environment_variables: ["STEPS=100000", "STEP_SECONDS=0.02", "HIDDEN=variable-9b1c"] }
`;

/** Returns the span of an append of an event to a stream, once the collector has it. */
async function appended(stream: string, event: string): Promise<CollectedSpan> {
  const found = (): CollectedSpan | undefined =>
    collector.spans.find(
      ({ name, attributes: own }) =>
        name === "append" &&
        own["trainyard.stream"] === stream &&
        String(own["trainyard.event"]).split(", ").includes(event),
    );
  await eventually(`the append of ${event} is sent`, async () => found() !== undefined);
  const span = found();
  assert(span !== undefined, "the span was found");
  return span;
}

const shown = (span: CollectedSpan): string => `${span.service}: ${span.name}`;

/** Whether the parent of each span of a trace was sent. */
const isWhole = (traceId: string): boolean => {
  const spans = collector.trace(traceId);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const orphans = spans.filter(({ parentSpanId }) => parentSpanId !== "" && !ids.has(parentSpanId));
  return (
    orphans.length === 0 && spans.filter(({ parentSpanId }) => parentSpanId === "").length === 1
  );
};

test("a submit is one trace up to the first line, and a report that stops its trial is another one", async () => {
  const id = await world.submit(config, world.code("curves"));
  expect(await world.end(id)).toBe("COMPLETED");
  const first = (): CollectedSpan | undefined =>
    collector.spans.find(
      ({ name, attributes: own }) =>
        name === "first line" && String(own["trainyard.allocation"]).startsWith(`${id}.1#`),
    );
  await eventually("the first line is sent", async () => first() !== undefined);
  const line = first();
  assert(line !== undefined, "the span was found");
  await eventually("the trace of the submit is whole", async () => isWhole(line.traceId));
  expect(collector.above(line).map(shown)).toEqual([
    "gateway: POST /api/v1/experiments",
    "gateway: experiments CreateExperiment",
    "experiments: experiments CreateExperiment",
    "experiments: append",
    "searcher: react ExperimentCreated",
    "searcher: append",
    "experiments: react TrialProposed",
    "experiments: append",
    "scheduler: react RunRequested",
    "scheduler: append",
    "scheduler: effect",
    "scheduler: append",
    "agent: launch",
    "agent: first line",
  ]);
  const published = collector.trace(line.traceId).filter(({ name }) => name === "publish");
  expect(published.length).toBeGreaterThanOrEqual(5);

  const stop = await appended(`allocation-${id}.1#1`, "AllocationStopRequested");
  await eventually("the trace of the report is whole", async () => isWhole(stop.traceId));
  const path = collector.above(stop);
  expect(path.map(shown)).toEqual([
    "metrics: report",
    "metrics: append",
    "searcher: react ValidationReported",
    "searcher: append",
    "experiments: react TrialStopDecided",
    "experiments: append",
    "scheduler: react RunStopRequested",
    "scheduler: append",
  ]);
  expect(stop.traceId).not.toBe(line.traceId);
  expect(path[0]?.links.map(({ traceId }) => traceId)).toEqual([line.traceId]);

  const end = await appended(`allocation-${id}.1#1`, "AllocationEnded");
  const [ended] = collector.above(end);
  expect(ended && shown(ended)).toBe("scheduler: run ended");
  expect(ended?.links.map(({ traceId }) => traceId)).toEqual([line.traceId]);
  expect(collector.problems).toEqual([]);
});

test("an event names the span of its append, and spans have no token, secret, setting or line", async () => {
  const id = await world.submit(config, world.code("curves"));
  expect(await world.end(id)).toBe("COMPLETED");
  const requested = { experiment: id, noFollow: true };
  for await (const { message } of world.client.stream("watchEvents", requested)) {
    const [, traceId, spanId] = (message.traceparent ?? "").split("-");
    await eventually(`the span of ${message.type} is sent`, async () =>
      collector.spans.some((span) => span.traceId === traceId && span.spanId === spanId),
    );
  }
  expect(collector.text).not.toContain(world.access.token);
  for (const hidden of ["ty1.", "variable-9b1c", "STEP_SECONDS", "starts at", "Bearer"]) {
    expect(collector.text).not.toContain(hidden);
  }
});

test("a request continues its caller's trace, and a bad traceparent is ignored", async () => {
  const { api, token } = world.access;
  const answers = (traceparent: string): Promise<Response> =>
    fetch(`${api}/api/v1/version`, { headers: { authorization: `Bearer ${token}`, traceparent } });
  const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const bad = [valid.toUpperCase(), `${valid}-x`, "x".repeat(1_000)];
  for (const traceparent of [valid, ...bad]) {
    expect((await answers(traceparent)).status).toBe(200);
  }
  const named = (): readonly CollectedSpan[] =>
    collector.spans.filter(({ name }) => name === "GET /api/v1/version");
  await eventually("the requests are sent", async () => named().length >= 4);
  const below = named().filter(({ parentSpanId }) => parentSpanId === "00f067aa0ba902b7");
  expect(below.map(({ traceId }) => traceId)).toEqual(["4bf92f3577b34da6a3ce929d0e0e4736"]);
});

test("a collector that hangs delays no submit", async () => {
  collector.hangs = true;
  try {
    const before = collector.requests;
    const begunMs = performance.now();
    const id = await world.submit(config, world.code("curves"));
    expect(await world.end(id)).toBe("COMPLETED");
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    expect(collector.requests).toBeGreaterThan(before);
  } finally {
    collector.hangs = false;
  }
});
