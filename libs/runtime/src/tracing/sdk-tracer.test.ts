import { isTraceparent } from "@trainyard/kernel";
import { SpanCollector } from "@trainyard/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { openTracer } from "./open-tracer.ts";
import type { TracingVariables } from "./settings.ts";
import { continued } from "./traceparent.ts";
import { during, noTracer, type Tracer } from "./tracer.ts";

let collector: SpanCollector;

beforeAll(async () => {
  collector = await SpanCollector.start();
});

afterAll(() => collector[Symbol.asyncDispose]());

const sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const unsampled = "00-5bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

async function traced(
  variables: TracingVariables,
  work: (tracer: Tracer, metrics: () => Promise<string>) => Promise<void> | void,
): Promise<readonly string[]> {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const registry = new Registry();
  await using stack = new AsyncDisposableStack();
  const tracer = await openTracer("experiments", variables, {
    ...{ logger, registry, stack },
    ...{ clock: systemClock, version: "1" },
  });
  await work(tracer, () => registry.metrics());
  return lines;
}

test("a traceparent is continued if it is valid, and otherwise replaced by one that nobody samples", () => {
  expect(continued(sampled)).toBe(sampled);
  const bad = ["", "x", `${sampled}-x`, sampled.replace("4bf9", "4BF9"), sampled.slice(0, -1)];
  const zeros = [
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    sampled.replace("00f067aa0ba902b7", "0".repeat(16)),
  ];
  for (const text of [...bad, ...zeros]) {
    expect(isTraceparent(text), text).toBe(false);
    expect(continued(text)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  }
});

test("a service without a collector hands a traceparent on, so that later spans have their parent", () => {
  expect(noTracer.begin("x", sampled).traceparent).toBe(sampled);
  expect(noTracer.under("x", sampled).traceparent).toBe(sampled);
  expect(noTracer.under("x", "bad").traceparent).toBe("");
});

test("spans have the trace, the parent and the links that they were given", async () => {
  await traced(collector.variables, async (tracer) => {
    const first = tracer.begin("first", "", { kind: "server", links: [sampled, unsampled, "x"] });
    const below = tracer.under("below", first.traceparent, { attributes: { run: "12.3#1" } });
    const failing = tracer.under("failing", below.traceparent);
    await during(failing, async () => Promise.reject(new Error("a line"))).catch(() => {});
    below.end();
    first.end({ attributes: { stored: 2 } });
    tracer.under("of a caller", sampled).end();
    tracer.under("never ended", sampled);
  });
  const [first, below, failing, ofCaller] = ["first", "below", "failing", "of a caller"].map(
    (name) => collector.spans.find((span) => span.name === name),
  );
  expect(first).toMatchObject({ parentSpanId: "", kind: 2, attributes: { stored: 2 } });
  expect(first?.links).toEqual([{ traceId: sampled.split("-")[1], spanId: sampled.split("-")[2] }]);
  expect(below).toMatchObject({ traceId: first?.traceId, parentSpanId: first?.spanId });
  expect(below?.attributes).toEqual({ run: "12.3#1" });
  expect(failing).toMatchObject({ isError: true, attributes: { "error.type": "Error" } });
  expect(ofCaller?.parentSpanId).toBe("00f067aa0ba902b7");
  expect(collector.spans.some(({ name }) => name === "never ended")).toBe(false);
  expect(collector.text).not.toContain("a line");
  expect(collector.problems).toEqual([]);
});

test("the flag of the first service decides: an unsampled trace has no spans, a sampled one has all", async () => {
  const never = { ...collector.variables, OTEL_TRACES_SAMPLER: "always_off" };
  await traced(never, (tracer) => {
    const root = tracer.begin("off root", "");
    expect(root.traceparent).toMatch(/-00$/);
    const below = tracer.under("off below", root.traceparent);
    expect(below.traceparent).toBe(root.traceparent);
    below.end();
    root.end();
    tracer.under("of a sampled caller", sampled).end();
  });
  await traced(collector.variables, (tracer) => {
    expect(tracer.begin("off", unsampled).traceparent).toBe(unsampled);
    tracer.begin("off", unsampled).end();
  });
  const names = collector.spans.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("off"))).toEqual([]);
  expect(names).toContain("of a sampled caller");
});

test("spans beyond the queue of a collector that hangs are dropped and counted, and nothing waits", async () => {
  const small = { OTEL_BSP_MAX_QUEUE_SIZE: "100", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "50" };
  const variables = { ...collector.variables, ...small, OTEL_EXPORTER_OTLP_TIMEOUT: "200" };
  collector.hangs = true;
  const lines = await traced(variables, async (tracer, metrics) => {
    const begunMs = performance.now();
    for (let n = 0; n < 1_000; n += 1) tracer.under("many", sampled).end();
    expect(performance.now() - begunMs).toBeLessThan(500);
    await vi.waitFor(async () => {
      expect(await metrics()).toMatch(/not_taken".* 50\n/);
    }, 5_000);
    // The first batch left the queue at once.
    expect(await metrics()).toMatch(/dropped_total\{reason="queue_full".* (850|900)\n/);
  });
  collector.hangs = false;
  expect(lines.filter((line) => line.includes("traces_not_taken"))).toHaveLength(1);
});

test("spans are sent as protobuf if nothing else is set", async () => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT } = collector.variables;
  await traced({ OTEL_EXPORTER_OTLP_ENDPOINT }, (tracer) => {
    tracer.under("as protobuf", sampled).end();
  });
  // The collector reads JSON only.
  expect(collector.problems.splice(0)).toEqual([expect.stringContaining("sent as JSON")]);
  expect(collector.refused).toContain("as protobuf");
});

test("a wrong endpoint is one sentence in the log, and the service works without traces", async () => {
  const lines = await traced({ OTEL_EXPORTER_OTLP_ENDPOINT: "x" }, (tracer) => {
    expect(tracer).toBe(noTracer);
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT is no address");
});

test("a certificate that cannot be read is one sentence in the log, and the service works without traces", async () => {
  const variables = { ...collector.variables, OTEL_EXPORTER_OTLP_CERTIFICATE: "/none.pem" };
  const lines = await traced(variables, (tracer) => {
    expect(tracer).toBe(noTracer);
  });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("no traces are sent: ENOENT: no such file or directory");
});
