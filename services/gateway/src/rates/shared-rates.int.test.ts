/** Gateways that share a Redis, which is killed, frozen and flushed. */
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { freePort } from "@trainyard/testing";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { requested, trialCreated } from "../testing/example-events.ts";
import { redisForTest } from "../testing/redis.ts";
import { startTestGateway } from "../testing/test-gateway.ts";
import { rateLimits } from "./limits.ts";

vi.setConfig({ testTimeout: 120_000 });

const ratesOf = (perSecond: number, burst: number) => ({
  TRAINYARD_RATE_USER: String(perSecond),
  TRAINYARD_RATE_RUN: String(perSecond),
  TRAINYARD_RATE_ADDRESS: String(perSecond),
  TRAINYARD_RATE_BURST: String(burst),
});

/** A clock that gives Redis more time, for a test that is not about late answers. */
const patient: Clock = {
  ...systemClock,
  timer: (ms, callback) =>
    systemClock.timer(ms === rateLimits.redisAnswerMs ? 20_000 : ms, callback),
};

/** A logger, with its lines about Redis. */
function listening() {
  const logger = createLogger("gateway", "silent");
  const said: string[] = [];
  for (const level of ["warn", "info"] as const) {
    logger[level] = (fields: { readonly why?: string }, code = "") => {
      if (code.startsWith("redis_")) said.push(`${level} ${code} ${fields.why ?? ""}`.trim());
    };
  }
  return { logger, said };
}

/** Returns the status of a read, and the seconds that it took. */
async function get(url: string, token: string | null, path = "/api/v1/workspaces") {
  const began = performance.now();
  const headers = token === null ? undefined : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}${path}`, { ...(headers && { headers }) });
  await answer.body?.cancel();
  return { status: answer.status, seconds: (performance.now() - began) / 1_000 };
}

/**
 * The floods, the runs, the person and the gateway share a thread here, on a machine with other work. The campaign
 * `flood` judges at a tenth of this.
 */
const fastSeconds = 0.5;

const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Infinity;

test("gateways with one Redis share the buckets, and it has digests and times only", async ({
  skip,
}) => {
  await using redis = await redisForTest(skip, { password: "secret-of-redis" });
  const redisUrl = `redis://:secret-of-redis@127.0.0.1:${redis.port}`;
  const burst = 50;
  const settings = { ...ratesOf(1, burst), TRAINYARD_REDIS_URL: redisUrl };
  await using gateway = await startTestGateway(settings, () => ({ clock: patient }));
  const urls = [gateway.url, await gateway.startAnother({ clock: patient })];
  const run = await gateway.runToken("1.1#1");
  const store = new Redis(redisUrl);
  for (const url of urls) {
    await vi.waitFor(async () => {
      await store.flushall();
      await get(url, null);
      expect(await store.keys("*")).toHaveLength(1);
    }, 30_000);
  }
  const began = performance.now();
  let answered = 0;
  while ((await get(urls[answered % 2] ?? "", gateway.token)).status === 200) answered += 1;
  expect(answered).toBeGreaterThanOrEqual(burst);
  expect(answered).toBeLessThanOrEqual(burst + 1 + (performance.now() - began) / 1_000);
  for (const url of urls) await get(url, run);
  await get(gateway.url, null);
  const keys = await store.keys("*");
  expect(keys).toHaveLength(3);
  for (const key of keys) {
    expect(key).toMatch(/^trainyard:rate:[\w-]{43}$/);
    expect(await store.get(key)).toMatch(/^\d{16}$/);
    expect(await store.pttl(key)).toBeGreaterThan(0);
  }
  store.disconnect();
});

test.for([
  [
    "with another password",
    async (port: number) => `redis://:wrong@127.0.0.1:${port}`,
    /WRONGPASS/,
  ],
  ["that does not listen", async () => `redis://127.0.0.1:${await freePort()}`, /ECONNREFUSED/],
] as const)(
  "a gateway warns once that it counts alone with a Redis %s",
  async ([, urlOf, why], { skip }) => {
    await using redis = await redisForTest(skip, { password: "secret-of-redis" });
    const { logger, said } = listening();
    await using gateway = await startTestGateway(
      { ...ratesOf(1, 10), TRAINYARD_REDIS_URL: await urlOf(redis.port) },
      () => ({ logger }),
    );
    await vi.waitFor(() => expect(said).toHaveLength(1), 30_000);
    const began = performance.now();
    let answered = 0;
    while ((await get(gateway.url, gateway.token)).status === 200) answered += 1;
    expect(answered).toBeGreaterThanOrEqual(10);
    expect(answered).toBeLessThanOrEqual(11 + (performance.now() - began) / 1_000);
    await vi.waitFor(() => expect(performance.now() - began).toBeGreaterThan(2_500), 10_000);
    await get(gateway.url, gateway.token);
    expect(said).toEqual([expect.stringMatching(why)]);
    expect(said[0]).toMatch(/^warn redis_away/);
    expect(said[0]).not.toContain("wrong");
  },
);

test("no call of a thousand runs is refused beside two floods, while Redis is frozen, flushed and killed", async ({
  skip,
}) => {
  const port = await freePort();
  let redis = await redisForTest(skip, { port });
  const { logger } = listening();
  await using gateway = await startTestGateway(
    {
      ...ratesOf(20, 60),
      TRAINYARD_REDIS_URL: `redis://127.0.0.1:${port}`,
    },
    () => ({ logger }),
  );
  const created = await gateway.call("POST", "/api/v1/tokens", { body: {} });
  const flooding = String(created.body["secret"]);
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const runs = await Promise.all(
    Array.from({ length: 1_000 }, (_, run) => gateway.runToken(`1.1#${run + 1}`)),
  );
  /** Lists experiments as a person, in whose bucket there is room. */
  const listed = () => get(gateway.url, gateway.token, "/api/v1/experiments?pageSize=20");
  const alone: number[] = [];
  for (let n = 0; n < 20; n += 1) alone.push((await listed()).seconds);
  const over = new AbortController();
  const floods = [flooding, null].flatMap((token) =>
    Array.from({ length: 8 }, async () => {
      const statuses = new Set<number>();
      while (!over.signal.aborted) statuses.add((await get(gateway.url, token)).status);
      return statuses;
    }),
  );
  const seen = new Set<string>();
  const beside: number[] = [];
  let called = 0;
  /** Makes calls of the next 200 runs, and some of another person. */
  const round = async (): Promise<void> => {
    for (const until = called + 200; called < until; called += 20) {
      const asked = runs.slice(called, called + 20).map(async (token, at) => {
        const id = encodeURIComponent(`1.1#${called + at + 1}`);
        const { status } = await get(gateway.url, token, `/api/v1/runs/${id}/signals?waitMs=0`);
        seen.add(`run ${status}`);
      });
      const [, list] = await Promise.all([Promise.all(asked), listed()]);
      seen.add(`person ${list.status}`);
      beside.push(list.seconds);
    }
  };
  await round();
  redis.freeze();
  await round();
  redis.thaw();
  await redis.flush();
  await round();
  await redis[Symbol.asyncDispose]();
  await round();
  redis = await redisForTest(skip, { port });
  const again = new Redis(port);
  await vi.waitFor(async () => expect(await again.dbsize()).toBeGreaterThan(0), 60_000);
  again.disconnect();
  await round();
  over.abort();
  const flooded = new Set((await Promise.all(floods)).flatMap((statuses) => [...statuses]));
  await redis[Symbol.asyncDispose]();
  expect(flooded).toEqual(new Set([200, 401, 429]));
  expect(seen).toEqual(new Set(["run 200", "person 200"]));
  expect(p95(beside)).toBeLessThan(5 * Math.max(p95(alone), fastSeconds));
});
