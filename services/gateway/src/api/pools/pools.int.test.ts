import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const gpus = {
  pool: "gpus",
  policy: "fair_share",
  settings: { preemption: true, quotas: [{ workspace: "research", slots: 16, borrow: true }] },
  agentsKnown: 3,
  agentsPresent: 2,
  slots: 24,
  slotsFree: 5,
  runsWaiting: 1,
  runsPlaced: 4,
  quotas: [{ workspace: "research", slots: 16, used: 19, borrowed: 3 }],
  reservedFor: "7.1#1",
  slotsReserved: 8,
  setAside: "placement of gpus: a bug",
} as const;

/** Simulates the scheduler, and records the requests and their callers. */
async function scheduler(asked: object[]): Promise<AsyncDisposable> {
  return gateway.serving("scheduler", {
    GetPools: async () => ({ pools: [gpus] }),
    ConfigurePool: async (request, { identity }) => {
      asked.push({ ...request, authid: identity.meta.authid });
      if (request.create && request.pool === gpus.pool) {
        return reject("pool_exists", "the pool gpus exists");
      }
      return { position: 12, stream: `pool-${request.pool}` };
    },
    RemovePool: async (request) => {
      asked.push(request);
      return request.pool === "gpus"
        ? reject("pool_in_use", "the pool gpus has 3 agents and 5 runs")
        : { position: 13, stream: `pool-${request.pool}` };
    },
  });
}

test("pools are listed and shown with the scheduler's data", async () => {
  await using _scheduler = await scheduler([]);
  const { pool: name, ...rest } = gpus;
  expect(await gateway.call("GET", "/api/v1/pools")).toMatchObject({
    status: 200,
    body: { items: [{ name, ...rest }] },
  });
  expect(await gateway.call("GET", "/api/v1/pools/gpus")).toMatchObject({
    status: 200,
    body: { name, ...rest },
  });
  expect(await gateway.call("GET", "/api/v1/pools/none")).toMatchObject({
    status: 404,
    body: { code: "pool_not_found", detail: "there is no pool none" },
  });
});

test("a pool is created and updated with only the given settings, with the caller's identity", async () => {
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const settings = { ageingMs: 600_000, backfill: "any" };
  const created = await gateway.call("POST", "/api/v1/pools", { body: { name: "new", settings } });
  expect(created).toMatchObject({ status: 200, body: { position: "12" } });
  const body = { policy: "round_robin", settings: { preemption: false } };
  expect((await gateway.call("PUT", "/api/v1/pools/gpus", { body })).status).toBe(200);
  expect(asked).toEqual([
    {
      pool: "new",
      policy: "priority",
      settings: { ...settings, quotas: [] },
      create: true,
      authid: expect.stringMatching(/./),
    },
    {
      pool: "gpus",
      policy: "round_robin",
      settings: { preemption: false, quotas: [] },
      create: false,
      authid: expect.stringMatching(/./),
    },
  ]);
});

test("a pool without a name is refused, and a refusal of the scheduler is a conflict with its sentence", async () => {
  await using _scheduler = await scheduler([]);
  expect(await gateway.call("POST", "/api/v1/pools", { body: {} })).toMatchObject({
    status: 400,
    body: { detail: "a pool needs a name" },
  });
  expect(await gateway.call("POST", "/api/v1/pools", { body: { name: "gpus" } })).toMatchObject({
    status: 409,
    body: { code: "pool_exists", detail: "the pool gpus exists" },
  });
  expect(await gateway.call("DELETE", "/api/v1/pools/gpus")).toMatchObject({
    status: 409,
    body: { code: "pool_in_use", detail: "the pool gpus has 3 agents and 5 runs" },
  });
  expect(await gateway.call("DELETE", "/api/v1/pools/old")).toMatchObject({
    status: 200,
    body: { position: "13" },
  });
});

test("a repeated pool creation with the same idempotency key asks the scheduler once", async () => {
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const options = { body: { name: "once" }, headers: { "idempotency-key": "pool-once" } };
  const first = await gateway.call("POST", "/api/v1/pools", options);
  const second = await gateway.call("POST", "/api/v1/pools", options);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
  expect(asked).toHaveLength(1);
});

test("a run's token cannot change pools", async () => {
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const token = await gateway.runToken("1.1#1");
  const answer = await gateway.call("DELETE", "/api/v1/pools/old", { token });
  expect([401, 403]).toContain(answer.status);
  expect(asked).toEqual([]);
});

test("a call about pools is a 503 while the scheduler is unavailable", async () => {
  expect(await gateway.call("GET", "/api/v1/pools")).toMatchObject({
    status: 503,
    body: { detail: "the scheduler service does not answer now; try again" },
  });
});

test("a call that needs another service names the bus while that is away", async () => {
  gateway.hub.disconnect("gateway");
  const answer = await gateway.call("GET", "/api/v1/pools");
  gateway.hub.reconnect("gateway");
  expect(answer).toMatchObject({
    status: 503,
    body: { detail: "the bus is away, so the scheduler service cannot be asked; try again" },
  });
});
