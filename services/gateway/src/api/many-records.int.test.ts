/** A trial whose validations are each better than the one before, as in a long training that validates at every step. */
import { randomUUID } from "node:crypto";
import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
  validation,
} from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const count = 1_600;
const names = Array.from({ length: 4_000 }, (_, n) => `a metric with a name ${n}`);

test("many improving validations with many values do not stop the read model", async () => {
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", searchStarted());
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  let position = 0;
  for (let step = 0; step < count; step += 4) {
    const events = [0, 1, 2, 3].map((more) => {
      const event = validation({ step: step + more, loss: 1 / (1 + step + more) });
      const scalars = Object.fromEntries(names.map((name) => [name, step + Math.random()]));
      const data = { ...event.data, scalars: { ...event.data.scalars, ...scalars } };
      return { id: newEventId(), ...encodeEvent({ ...event, data }) };
    });
    const commit = {
      commitId: randomUUID(),
      writes: [{ stream: "measurement-1.1", expectedVersion: step, events }],
      guards: [],
      meta: {
        source: "/trainyard/test",
        workspace: "",
        correlationid: "",
        causationid: "",
        authid: "",
        traceparent: "",
      },
    };
    // The gateway, which is in this process, blocks its event loop for longer than an append may take.
    const result = await gateway.log.append(commit).catch(() => gateway.log.append(commit));
    if (result.kind !== "committed") throw new Error(JSON.stringify(result));
    ({ position } = result);
  }
  const appended = performance.now();
  let answer = await gateway.call("GET", "/api/v1/experiments");
  let refused = 0;
  while (
    Number(answer.body["position"] ?? 0) < position &&
    performance.now() - appended < 120_000
  ) {
    if (answer.status === 503) refused += 1;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    answer = await gateway.call("GET", "/api/v1/experiments");
  }
  expect(Number(answer.body["position"] ?? 0)).toBeGreaterThanOrEqual(position);
  expect(refused).toBe(0);
}, 400_000);
