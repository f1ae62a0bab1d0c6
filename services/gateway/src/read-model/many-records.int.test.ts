/** A trial whose validations are each better than the one before, as in a training that validates at every step. */
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

const count = 80;
const names = Array.from({ length: 4_000 }, (_, n) => `a metric with a name ${n}`);

test("the document of a trial stays small after many improving validations with many values", async () => {
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", searchStarted());
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  for (let step = 0; step < count; step += 4) {
    const events = [0, 1, 2, 3].map((more) => {
      const event = validation({ step: step + more, loss: 1 / (1 + step + more) });
      const scalars = Object.fromEntries(names.map((name) => [name, step + Math.random()]));
      return { ...event, data: { ...event.data, scalars: { ...event.data.scalars, ...scalars } } };
    });
    await gateway.append("measurement-1.1", ...events);
  }
  const best = async (): Promise<unknown> => {
    const { body } = await gateway.call("GET", "/api/v1/trials/1.1");
    return (body["bestValidation"] as Record<string, number> | undefined)?.["loss"];
  };
  await expect.poll(best).toBe(1 / count);
  const { rows } = await gateway.sql(
    "select length(doc::text) as bytes from gateway.documents where kind = 'trial'",
  );
  expect(Number(rows[0]?.["bytes"])).toBeLessThan(64 * 1024);
  const { body } = await gateway.call("GET", "/api/v1/trials/1.1");
  const all = names.length + 1;
  expect(Object.keys(body["bestValidation"] as object)).toHaveLength(all);
  expect(Object.keys(body["latestValidation"] as object)).toHaveLength(all);
  const list = await gateway.call("GET", "/api/v1/experiments/1/trials");
  const [listed] = list.body["items"] as readonly Record<string, object>[];
  const first = Object.keys(listed?.["latestValidation"] ?? {});
  expect(first[0]).toBe("loss");
  expect(first.length).toBeLessThan(names.length);
});
