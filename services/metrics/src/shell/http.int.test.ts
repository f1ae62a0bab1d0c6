import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { metricsLimits } from "../limits.ts";
import type { ListeningService } from "@trainyard/runtime";
import { report, TestMetrics } from "../testing/test-metrics.ts";

let metrics: TestMetrics;
let service: ListeningService;

beforeAll(async () => {
  metrics = await TestMetrics.start();
  service = await metrics.replica();
  await metrics.request("12.1", 1);
});

afterAll(() => metrics[Symbol.asyncDispose]());

/** Sends the head of a request whose body never arrives. */
function announced(path: string, bytes: number, token: string | null) {
  const headers = {
    "content-type": "application/json",
    "content-length": bytes,
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const sent = request(`${service.address()}${path}`, { method: "POST", agent: false, headers });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", (response) => resolve(response.resume())).on("error", reject);
  });
  answer.catch(() => {});
  sent.flushHeaders();
  return { answer, hangUp: () => sent.destroy() };
}

const patience = (ms: number): Promise<null> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, null);
  });

const path = "/api/v1/runs/12.1%231/reports";

describe("before a body is read", () => {
  test.each([
    ["a caller without a token", () => announced(path, 1_000, null), 401],
    ["another run's token", () => announced(path, 1_000, metrics.token("12.1#2")), 403],
    ["what is not served", () => announced("/api/v1/nothing", 1_000, null), 404],
  ])("%s is refused", async (_what, send, status) => {
    const { answer, hangUp } = send();
    expect((await answer).statusCode).toBe(status);
    hangUp();
  });

  test("a request with one large body too many is asked to retry, and small bodies are accepted", async () => {
    const { requestBytesMax: large, largeBodiesBytesMax } = metricsLimits;
    const token = metrics.token("12.1#1");
    const held: ReturnType<typeof announced>[] = [];
    try {
      let refused: IncomingMessage | null = null;
      // Requests are sent one by one and held open. A refused request may take a place for a short time.
      while (refused === null) {
        const one = announced(path, large, token);
        held.push(one);
        refused = await Promise.race([one.answer, patience(100)]);
        expect(held.length).toBeLessThan(100);
      }
      expect(refused.statusCode).toBe(503);
      expect(refused.headers["retry-after"]).toBe("1");
      expect(held.length).toBeGreaterThan(Math.floor(largeBodiesBytesMax / large));
      const reports = [report(1, "training", 1)];
      expect((await metrics.send(service, "12.1#1", { reports })).status).toBe(200);
    } finally {
      for (const { hangUp } of held) hangUp();
    }
  });
});
