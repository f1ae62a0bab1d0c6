/** Tests of the calls about retention, with a simulated checkpoint-gc and registry. */
import { randomUUID } from "node:crypto";
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

test("the hold on deletions is listed page by page with what was never completed, and is released with a reason", async () => {
  const entry = (checkpoint: string) => ({
    ...{ checkpoint, trial: "1.1", run: 1, step: 10, state: "void", place: "/c/a", sinceMs: 5 },
  });
  const last = randomUUID();
  const lost = { position: 58, event: "lost", noticedBy: "relay", detail: "the log went back" };
  const pages = [
    { held: true, sinceMs: 7, ...lost, unfinished: [entry("a"), entry(last)], more: true },
    { held: false, sinceMs: 0, ...lost, unfinished: [entry("c")], more: false },
  ];
  await using _registry = await gateway.serving("registry", {
    GetDeletionHold: async (request) => {
      asked.push(request);
      return pages[asked.length - 1] ?? { rejected: "none", detail: "" };
    },
    ReleaseDeletions: async (request) => {
      asked.push(request);
      return { position: 70, stream: "hold-deletions" };
    },
  });
  const first = await gateway.call("GET", "/api/v1/storages:hold?pageSize=2");
  expect(first.body).toEqual({
    hold: { sinceMs: 7, ...lost, position: "58" },
    items: [entry("a"), entry(last)],
    nextPageToken: last,
  });
  const second = await gateway.call("GET", `/api/v1/storages:hold?pageSize=2&pageToken=${last}`);
  expect(second.body).toMatchObject({ items: [entry("c")], nextPageToken: "" });
  expect(second.body).not.toHaveProperty("hold");
  const body = { reason: "compared" };
  const released = await gateway.call("POST", "/api/v1/storages:release", { body });
  expect(released).toMatchObject({ status: 200, body: { position: "70" } });
  expect(asked).toMatchObject([{ limit: 2 }, { after: last, limit: 2 }, { reason: "compared" }]);
});
