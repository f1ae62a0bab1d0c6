/** Requests whose bodies never arrive. */
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import type { ListeningService } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { metricsLimits } from "./limits.ts";
import { report, TestMetrics } from "./testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
  await metrics.request("17.1", 1);
  await metrics.request("18.1", 1);
});

afterAll(() => metrics[Symbol.asyncDispose]());

/** Announces the largest body, and sends none of it. */
async function announced(run: string): Promise<Socket> {
  const { hostname, port } = new URL(service.address());
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    [
      `POST /api/v1/runs/${encodeURIComponent(run)}/reports HTTP/1.1`,
      "host: metrics",
      "content-type: application/json",
      `authorization: Bearer ${metrics.token(run)}`,
      `content-length: ${metricsLimits.requestBytesMax}`,
      "\r\n",
    ].join("\r\n"),
  );
  return socket;
}

test("a run that announces large bodies and sends none delays no other run", async () => {
  const count = metricsLimits.largeBodiesBytesMax / metricsLimits.requestBytesMax;
  const sockets = await Promise.all(Array.from({ length: count }, () => announced("18.1#1")));
  await new Promise((resolve) => setTimeout(resolve, 500));
  // A spool of another run after an outage: a few hundred reports.
  const reports = Array.from({ length: 900 }, (_, n) =>
    report(
      n,
      "training",
      n,
      Object.fromEntries(Array.from({ length: 8 }, (__, m) => [`m${m}`, m])),
    ),
  );
  const answer = await metrics.send(service, "17.1#1", { reports });
  for (const socket of sockets) socket.destroy();
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
});
