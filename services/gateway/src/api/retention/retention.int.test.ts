/** Tests of the preview of a retention policy, with a simulated checkpoint-gc. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const held = { saveExperimentBest: 1, saveTrialBest: 2, saveTrialLatest: 3 };
let gateway: TestGateway;
let asked: unknown[] = [];
let stack: AsyncDisposableStack;

beforeAll(async () => {
  gateway = await startTestGateway();
  stack = new AsyncDisposableStack();
  const position = await gateway.append("experiment-1", created({}));
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  stack.use(
    await gateway.serving("checkpoint-gc", {
      ExplainRetention: async (request) => {
        asked.push(request.policy);
        return { verdicts: [], more: false, policy: request.policy ?? held };
      },
    }),
  );
});
afterAll(async () => {
  await stack?.disposeAsync();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  asked = [];
});

async function preview(query: string): Promise<unknown> {
  const { body } = await gateway.call("GET", `/api/v1/experiments/1/retention${query}`);
  return (body as { policy: unknown }).policy;
}

test("a preview without settings shows the policy in force", async () => {
  expect(await preview("")).toEqual(held);
  expect(asked).toEqual([undefined]);
});

test("the settings that a preview does not give are those in force", async () => {
  const changed = { ...held, saveTrialBest: 7 };
  expect(await preview("?saveTrialBest=7")).toEqual(changed);
  expect(asked).toEqual([undefined, changed]);
});

test("a setting of 0 in a preview replaces the one in force", async () => {
  expect(await preview("?saveExperimentBest=0")).toMatchObject({ saveTrialBest: 2 });
  expect(asked).toEqual([undefined, { ...held, saveExperimentBest: 0 }]);
});
