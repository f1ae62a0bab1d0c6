import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { ReportService } from "@trainyard/contracts/api";
import { systemClock } from "@trainyard/kernel/system-clock";
import { SpanCollector } from "@trainyard/testing";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { BodyBudget } from "../service/body-budget.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import { startGrpcServer } from "./server.ts";
import { definitionOf, grpcService } from "./service.ts";

const { method } = ReportService;

test("a call is a span under its caller's, and a bad traceparent is ignored", async () => {
  await using collector = await SpanCollector.start();
  const seen: string[] = [];
  {
    await using stack = new AsyncDisposableStack();
    const logger = pino({ enabled: false });
    const own = { logger, registry: new Registry(), clock: systemClock, version: "1", stack };
    const tracer = await openTracer("gateway", collector.variables, own);
    const service = grpcService<typeof ReportService, null>(ReportService, {
      writeReports: async (_, { traceparent }) => {
        seen.push(traceparent);
        return { accepted: 1, refused: [] };
      },
    });
    const limits = { smallBytes: 1_000, smallBytesMax: 2_000, bytesMax: 20_000 };
    const { address } = stack.use(
      await startGrpcServer<null>(
        {
          services: [service],
          admit: async () => null,
          problemOf: () => ({ status: 500, code: "internal", message: "" }),
          readiness: () => null,
          draining: new AbortController().signal,
          bodies: new BodyBudget(limits),
          nameOf: () => "",
          messageBytesMax: 10_000,
          ...{ tracer, registry: own.registry },
        },
        { host: "127.0.0.1", port: 0 },
      ),
    );
    const client = new Client(address.replace("http://", ""), credentials.createInsecure());
    stack.defer(() => client.close());
    const { path, requestSerialize, responseDeserialize } = definitionOf(method.writeReports);
    for (const traceparent of ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "bad"]) {
      const metadata = new Metadata();
      metadata.set("traceparent", traceparent);
      const coded = [requestSerialize, responseDeserialize] as const;
      await new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, ...coded, { run: "1.1#1" }, metadata, (error, reply) =>
          error === null ? resolve(reply) : reject(error),
        );
      });
    }
  }
  const name = "trainyard.api.v1.ReportService/WriteReports";
  expect(collector.spans).toMatchObject([
    { name, kind: 2, parentSpanId: "00f067aa0ba902b7" },
    { name, kind: 2, parentSpanId: "" },
  ]);
  const named = collector.spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  expect(seen).toEqual(named);
});
