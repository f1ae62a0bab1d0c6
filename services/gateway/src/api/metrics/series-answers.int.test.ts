/** Gateways that share the answers of a simulated metrics service in a Redis. */
import { setTimeout as delay } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { QuerySeries } from "@trainyard/contracts/commands";
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { rateLimits } from "../../rates/limits.ts";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { type RunningRedis, redisForTest } from "../../testing/redis.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const answerKeys = "trainyard:answer:*";
const stack = new AsyncDisposableStack();
let redis: RunningRedis;
let store: Redis;
let gateway: TestGateway;
let urls: readonly string[] = [];
let asked: Plain<QuerySeries>[] = [];
/** The position of the experiment's stream. */
let head = 1;
let isAway = false;
const said: string[] = [];
/** The time that a gateway waits for Redis: more than its own, for tests that are not about late answers. */
let patienceMs = 20_000;

const clock: Clock = {
  ...systemClock,
  timer: (ms, callback) =>
    systemClock.timer(ms === rateLimits.redisAnswerMs ? patienceMs : ms, callback),
};

const bucket = { xMin: [1], xMax: [1], count: [1], min: [0], max: [0], deviation: [0] };
const others = { first: [0], last: [0], nans: [0], infinities: [0] };

async function open(skip: (why: string) => never): Promise<void> {
  redis = stack.use(await redisForTest(skip));
  store = new Redis(redis.port);
  stack.defer(() => store.disconnect());
  const logger = createLogger("gateway", "silent");
  logger.warn = (_fields: unknown, code = "") => void said.push(code);
  logger.info = (_fields: unknown, code = "") => void said.push(code);
  const overrides = { clock, logger };
  gateway = stack.use(
    await startTestGateway(
      { TRAINYARD_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      () => overrides,
    ),
  );
  urls = [gateway.url, await gateway.startAnother(overrides)];
  stack.use(
    await gateway.serving("metrics", {
      QueryStreamedPoints: async () => ({ items: [], next: head, more: false }),
      QuerySeries: async (query) => {
        if (isAway) throw new Error("metrics fails");
        asked.push(query);
        const { trials, group, names } = query;
        await delay(5);
        // The mean tells the answers apart.
        const mean = [asked.length];
        return {
          series: trials.flatMap((trial) =>
            names.map((name) => ({ trial, group, name, ...bucket, mean, ...others })),
          ),
          position: 7,
          streamPositions: Object.fromEntries(
            trials.map((trial) => [trial.split(".")[0] ?? "", head]),
          ),
        };
      },
    }),
  );
  for (const experiment of ["1", "2"]) {
    await gateway.append(`experiment-${experiment}`, created({}));
    const { type, data } = trialCreated(1);
    const made = { type, data: { ...data, experiment } };
    await gateway.append(`trial-${experiment}.1`, made, requested(1, 0));
  }
  for (const url of urls) await vi.waitFor(() => query(url, "2.1"), 20_000);
}

afterAll(() => stack.disposeAsync());

beforeEach(async ({ skip }) => {
  if (urls.length === 0) await open(skip);
  asked = [];
  isAway = false;
  // The gateways are connected once one uses the answer of the other.
  await vi.waitFor(async () => {
    await store.flushall();
    head += 1;
    const first = await query(urls[0] ?? "", "2.1");
    await kept(1);
    expect(await query(urls[1] ?? "", "2.1")).toEqual(first);
    await store.flushall();
  }, 20_000);
  asked = [];
});

type Answer = {
  readonly series: readonly { readonly mean: readonly number[] }[];
  readonly streamPosition: string;
};

async function query(url: string, ...trials: readonly string[]): Promise<Answer> {
  const named = trials.map((trial): [string, string] => ["trials", trial]);
  const search = new URLSearchParams([...named, ["names", "loss"]]);
  const headers = { authorization: `Bearer ${gateway.token}` };
  const answer = await fetch(`${url}/api/v1/metrics:series?${search}`, { headers });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

const kept = async (count: number): Promise<readonly string[]> =>
  vi.waitFor(async () => {
    const keys = await store.keys(answerKeys);
    expect(keys).toHaveLength(count);
    return keys;
  }, 2_000);

test("gateways ask once for a query at a position, and for each other one again", async () => {
  const [one = "", other = ""] = urls;
  const first = await query(one, "1.1");
  const [key = ""] = await kept(1);
  expect(key).toMatch(/^trainyard:answer:[\w-]{43}$/);
  expect(await store.pttl(key)).toBeGreaterThan(0);
  expect(await query(other, "1.1")).toEqual(first);
  expect(asked).toHaveLength(1);
  await query(other, "2.1");
  expect(asked).toHaveLength(2);
  head += 1;
  const next = await query(other, "1.1");
  expect(asked).toHaveLength(3);
  expect([next.streamPosition, next.series[0]?.mean]).toEqual([String(head), [3]]);
});

test("calls at once ask once, and trials of several experiments are not shared", async () => {
  const [one = ""] = urls;
  await Promise.all(Array.from({ length: 4 }, () => query(one, "1.1")));
  expect(asked).toHaveLength(1);
  await query(one, "1.1", "2.1");
  await query(one, "1.1", "2.1");
  expect(asked).toHaveLength(3);
});

test("an answer of another position, and bytes that are no answer, are never used", async () => {
  const [one = "", other = ""] = urls;
  await query(one, "1.1");
  const [earlier = ""] = await kept(1);
  const bytes = await store.getBuffer(earlier);
  head += 1;
  await query(one, "1.1");
  const [later = ""] = (await kept(2)).filter((key) => key !== earlier);
  const wrong = [
    bytes ?? "",
    "",
    "null",
    "{}",
    "[1]",
    Buffer.from([0xff, 0x00]),
    "x".repeat(1_000),
  ];
  for (const [n, value] of wrong.entries()) {
    await store.set(later, value);
    const { streamPosition, series } = await query(other, "1.1");
    expect([streamPosition, series[0]?.mean]).toEqual([String(head), [3 + n]]);
    await vi.waitFor(async () =>
      expect(await store.getBuffer(later)).not.toEqual(Buffer.from(value)),
    );
  }
});

test("a failed read is not kept", async () => {
  isAway = true;
  await expect(query(urls[0] ?? "", "1.1")).rejects.toThrow("500");
  isAway = false;
  await query(urls[0] ?? "", "1.1");
  expect(asked).toHaveLength(1);
});

test("a kept answer is for callers who may read the trials", async () => {
  const [one = "", other = ""] = urls;
  await gateway.append("experiment-3", created({}));
  const { type, data } = trialCreated(1);
  await gateway.append("trial-3.1", { type, data: { ...data, experiment: "3" } });
  for (const url of [one, other]) await vi.waitFor(() => query(url, "3.1"), 20_000);
  expect(asked).toHaveLength(1);
  const grace = { graceEndMs: Date.now() + 3_600_000, reason: "" };
  await gateway.append("experiment-3", { type: "ExperimentDeletionRequested", data: grace });
  for (const url of [one, other]) {
    await vi.waitFor(() => expect(query(url, "3.1")).rejects.toThrow("404"), 20_000);
  }
  const path = `${other}/api/v1/metrics:series?trials=1.1&names=loss`;
  await query(one, "1.1");
  expect((await fetch(path)).status).toBe(401);
});

test("while Redis is frozen or away each gateway answers, and asks metrics for itself", async () => {
  const [one = "", other = ""] = urls;
  patienceMs = rateLimits.redisAnswerMs;
  redis.freeze();
  for (const url of [one, other]) await query(url, "1.1");
  expect(asked).toHaveLength(2);
  redis.thaw();
  store.disconnect();
  await redis[Symbol.asyncDispose]();
  head += 1;
  for (const url of [one, other]) await query(url, "1.1");
  expect(asked).toHaveLength(4);
  expect(said.filter((code) => code === "redis_away")).toHaveLength(2);
});
