import { Fault, reject } from "@trainyard/kernel";
import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { created } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { expiredKeys, IdempotencyStore } from "./idempotency.ts";
import { deleteExpired } from "./sweep.ts";

let gateway: TestGateway;
let experiments: AsyncDisposable;
/** The commit ids of the simulated experiments service's requests, and its next answers. */
let asked: string[] = [];
let answers: ("ok" | "away" | "refused")[] = [];
let keys = 0;
let key = "";

beforeAll(async () => {
  gateway = await startTestGateway();
  const position = await gateway.append("experiment-1", created({}));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  experiments = await gateway.serving("experiments", {
    PauseExperiment: async (_, { identity }) => {
      asked.push(identity.commitId);
      const answer = answers.shift() ?? "ok";
      if (answer === "away") throw new Fault("away", "a test", { retry: "later" });
      if (answer === "refused") return reject("already_paused", "a test");
      return { position: 0, stream: "" };
    },
  });
});

afterAll(async () => {
  await experiments[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

beforeEach(() => {
  keys += 1;
  key = `key-${keys}`;
  asked = [];
  answers = [];
});

const path = "/api/v1/experiments/1/pause";

async function pauseIt(
  url = gateway.url,
  body: object = {},
  token: string = gateway.token,
): Promise<number> {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

const change = (what: string) =>
  gateway.sql(`update gateway.idempotency set ${what} where key = $1`, [key]);

const rows = async () =>
  (await gateway.sql("select * from gateway.idempotency where key = $1", [key])).rows;

describe("an Idempotency-Key", () => {
  test("keeps the commit id over attempts whose outcome is unknown", async () => {
    answers = ["away", "away"];
    expect([await pauseIt(), await pauseIt(), await pauseIt(), await pauseIt()]).toEqual([
      503, 503, 200, 200,
    ]);
    expect(asked).toHaveLength(3);
    expect(new Set(asked).size).toBe(1);
  });

  test("keeps the commit id after the crash of a gateway that had not answered", async () => {
    expect(await pauseIt()).toBe(200);
    await change("status = null, answer = null, held_until = now() + interval '1 hour'");
    expect(await pauseIt()).toBe(409);
    await change("held_until = now() - interval '1 second'");
    expect(await pauseIt()).toBe(200);
    expect(new Set(asked).size).toBe(1);
    expect(asked).toHaveLength(2);
  });

  test("is blocked as long as its attempt runs, and for a short time if its gateway dies", async () => {
    const heldMs = 600;
    const pool = { query: gateway.sql } as unknown as Pool;
    const first = new IdempotencyStore(pool, heldMs);
    const second = new IdempotencyStore(pool, heldMs);
    const owner = { caller: "a", key };
    const ids: string[] = [];
    const ending = Promise.withResolvers<void>();
    const attempt = async (id: string) => {
      ids.push(id);
      await ending.promise;
      return { status: 200, body: "{}" };
    };
    const running = first.once(owner, "d", attempt, true);
    for (const endMs = performance.now() + 3 * heldMs; performance.now() < endMs; ) {
      const repeat = second.once(owner, "d", attempt, true);
      await expect(repeat).rejects.toMatchObject({ code: "in_progress" });
    }
    ending.resolve();
    await running;
    expect(await second.once(owner, "d", attempt, true)).toEqual({ status: 200, body: "{}" });
    expect(ids).toHaveLength(1);
    key = `${key}-more`;
    await pauseIt();
    const [row] = (await rows()) as { readonly held_until: Date; readonly created_at: Date }[];
    expect(Number(row?.held_until) - Number(row?.created_at)).toBe(6_000);
  });

  test("gets a new commit id after a day, also for another request", async () => {
    expect(await pauseIt()).toBe(200);
    expect(await pauseIt(gateway.url, { experiment: "1" })).toBe(422);
    await change("created_at = now() - interval '25 hours'");
    expect(await pauseIt(gateway.url, { experiment: "1" })).toBe(200);
    expect(await pauseIt(gateway.url, { experiment: "1" })).toBe(200);
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(2);
  });

  test("belongs to its token: the same key of another token has an effect of its own", async () => {
    const { body } = await gateway.call("POST", "/api/v1/tokens", { body: { label: "other" } });
    expect(await pauseIt()).toBe(200);
    expect(await pauseIt(gateway.url, { experiment: "1" }, String(body["secret"]))).toBe(200);
    expect(await pauseIt(gateway.url, {}, gateway.token)).toBe(200);
    expect(new Set(asked).size).toBe(2);
  });

  test("has one effect for two gateways that get it at the same time", async () => {
    const other = await gateway.startAnother();
    for (let round = 0; round < 20; round += 1) {
      keys += 1;
      key = `key-${keys}`;
      asked = [];
      const both = await Promise.all([pauseIt(), pauseIt(other), pauseIt(), pauseIt(other)]);
      expect(both).toContain(200);
      for (const status of both) expect([200, 409]).toContain(status);
      expect(asked).toHaveLength(1);
    }
  });

  test("is released after a refusal, unless an earlier attempt may have had an effect", async () => {
    answers = ["refused"];
    expect(await pauseIt()).toBe(409);
    expect(await rows()).toEqual([]);
    answers = ["away", "refused", "ok"];
    expect([await pauseIt(), await pauseIt(), await pauseIt()]).toEqual([503, 409, 200]);
    expect(new Set(asked.slice(1)).size).toBe(1);
  });

  test("expires after a day, but not during an attempt", async () => {
    const pool = { query: gateway.sql } as unknown as Pool;
    const { signal } = new AbortController();
    expect(await pauseIt()).toBe(200);
    await change("created_at = now() - interval '25 hours', status = null");
    await change("held_until = now() + interval '10 seconds'");
    await deleteExpired(pool, expiredKeys, signal);
    expect(await rows()).toHaveLength(1);
    expect(await pauseIt()).toBe(409);
    await change("held_until = now() - interval '1 second'");
    await deleteExpired(pool, expiredKeys, signal);
    expect(await rows()).toEqual([]);
  });

  test("is deleted with any number of others, in statements that are short enough for the database", async () => {
    await gateway.sql(
      `insert into gateway.idempotency (caller, key, request_digest, number, held_until, created_at)
       select 'many', n::text, '', gen_random_uuid(), now(), now() - interval '2 days'
       from generate_series(1, 20) as n`,
    );
    const deleted: number[] = [];
    const query = async (text: string) => {
      const answer = await gateway.sql(text);
      deleted.push(answer.rowCount ?? 0);
      return answer;
    };
    const { signal } = new AbortController();
    await deleteExpired({ query } as unknown as Pool, expiredKeys, signal, 8);
    expect(deleted).toEqual([8, 8, 4]);
  });
});

test("a repeated token creation whose first answer was lost names the token, and returns no secret", async () => {
  const issue = () =>
    gateway.call("POST", "/api/v1/tokens", {
      body: { label: "lost" },
      headers: { "idempotency-key": key },
    });
  const first = await issue();
  const { id } = first.body["token"] as { id: string };
  await change("status = null, answer = null, held_until = now()");
  const again = await issue();
  expect(again).toMatchObject({ status: 409, body: { code: "token_exists" } });
  expect(String(again.body["detail"])).toContain(`revoke ${id}`);
});

test("a repeated creation of a token that expires with its creator names the token, not the expiry", async () => {
  const parent = await gateway.call("POST", "/api/v1/tokens", { body: { ttlSeconds: 600 } });
  const { expiresAtMs } = parent.body["token"] as { expiresAtMs: number };
  // The same wish made two seconds later would end after the creator's token.
  const ttlSeconds = (expiresAtMs - Date.now()) / 1_000 - 2;
  const issue = () =>
    gateway.call("POST", "/api/v1/tokens", {
      token: String(parent.body["secret"]),
      body: { label: "late", ttlSeconds },
      headers: { "idempotency-key": key },
    });
  expect((await issue()).status).toBe(200);
  await change("status = null, answer = null, held_until = now()");
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  expect(await issue()).toMatchObject({ status: 409, body: { code: "token_exists" } });
});

test("a repeated token creation with the same key creates no token, and the secret is not stored", async () => {
  const issue = () =>
    gateway.call("POST", "/api/v1/tokens", {
      body: { label: "once" },
      headers: { "idempotency-key": key },
    });
  const first = await issue();
  const { id } = first.body["token"] as { id: string };
  const kept = await rows();
  expect(kept).toHaveLength(1);
  // The secret part is base64url, so it may contain underscores.
  const secret = /^[^_]+_[^_]+_(.+)$/.exec(String(first.body["secret"]))?.[1] ?? "";
  expect(secret).not.toBe("");
  expect(JSON.stringify(kept)).not.toContain(secret);
  for (const again of [await issue(), await issue()]) {
    expect(again).toMatchObject({ status: 409, body: { code: "token_exists" } });
    expect(String(again.body["detail"])).toContain(`revoke ${id}`);
  }
});
