import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { CutPort } from "@trainyard/testing";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { readModelLimits } from "./limits.ts";

let gateway: TestGateway;
let registry: AsyncDisposable;
let grant = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({}));
  grant = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${grant}`);
  const plan = { checkpoint: "", path: "/somewhere", store: "", position: 1 };
  registry = await gateway.serving("registry", {
    DeclareCheckpoint: async () => plan,
    CompleteCheckpoint: async () => ({
      position: 1,
      stream: "",
    }),
    ReadAhead: async ({ paths }) => ({
      files: paths.length,
    }),
    FailCheckpoint: async () => ({
      position: 1,
      stream: "",
    }),
  });
  await gateway.sql(`create function public.refuse() returns trigger language plpgsql
    as $$ begin raise exception 'the test holds the read model' using errcode = 'disk_full'; end $$`);
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

/** Pauses the folding of the read model while reads continue. */
const hold = () =>
  gateway.sql(`create trigger held before insert or update on gateway.documents
    for each row execute function public.refuse()`);
const release = () => gateway.sql("drop trigger if exists held on gateway.documents");

afterEach(release);

const read = (url: string, path: string, token = gateway.token) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });

/** Checks all calls that a running trial makes to the gateway. */
async function expectRunServed(url: string, run: number): Promise<void> {
  const id = `1.1%23${run}`;
  const authorization = `Bearer ${await gateway.runToken(`1.1#${run}`, grant)}`;
  const signals = await fetch(`${url}/api/v1/runs/${id}/signals?waitMs=30000`, {
    headers: { authorization },
  });
  expect(await signals.json()).toEqual({ stop: true, why: "pause" });
  const checkpoint = "00000000-0000-4000-8000-000000000001";
  for (const [path, body] of [
    ["checkpoints", { checkpoint, stepsCompleted: 1 }],
    [`checkpoints/${checkpoint}/complete`, { manifest: [] }],
    [`checkpoints/${checkpoint}/ahead`, { paths: ["weights"] }],
    [`checkpoints/${checkpoint}/fail`, { reason: "a file is missing" }],
  ] as const) {
    const answer = await fetch(`${url}/api/v1/runs/${id}/${path}`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "idempotency-key": path },
      body: JSON.stringify(body),
    });
    expect(answer.status, await answer.text()).toBe(200);
  }
}

async function stop(run: number): Promise<void> {
  grant = await gateway.append("trial-1.1", requested(run, 0));
  await gateway.append("trial-1.1", {
    type: "RunStopRequested",
    data: { run, mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 0 },
  });
}

test("a gateway whose read model has never caught up is not ready and answers no reads, but serves runs", async () => {
  await hold();
  await gateway.append("experiment-2", created({}));
  await stop(2);
  const url = await gateway.startAnother();
  const ready = await fetch(`${url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.text()).toMatch(/being built from the log \(\d+ of \d+ events, \d+ %\)/);
  for (const path of ["/api/v1/experiments", "/api/v1/tokens"]) {
    const answer = await read(url, path);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await answer.text()).toContain("runs continue in the meantime");
  }
  expect((await read(url, "/api/v1/experiments", "ty_no")).status).toBe(401);
  expect((await read(url, "/api/v1/version")).status).toBe(200);
  await expectRunServed(url, 2);
  await release();
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 90_000);
  const list = (await (await read(url, "/api/v1/experiments")).json()) as { items: unknown[] };
  expect(list.items).toHaveLength(2);
});

test("a read model that lags beyond the limit answers reads with a 503, and runs are still served", async () => {
  let skewMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs };
  const url = await gateway.startAnother({ clock });
  const lag = async () =>
    Number(/^trainyard_read_model_lag_seconds\{.*\} (\S+)$/m.exec(await metrics())?.[1]);
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  expect((await read(url, "/api/v1/experiments")).status).toBe(200);
  await hold();
  await stop(3);
  await vi.waitFor(async () => expect(await lag()).toBeGreaterThan(0), 90_000);
  expect((await read(url, "/api/v1/experiments")).status).toBe(200);
  skewMs = readModelLimits.readLagMsMax + 1_000;
  const behind = await read(url, "/api/v1/experiments");
  expect(behind.status).toBe(503);
  expect(await behind.text()).toMatch(/the read model is \d+ s behind the log/);
  const unknown = `ty_${"0".repeat(16)}_${"A".repeat(43)}`;
  expect((await read(url, "/api/v1/events", unknown)).status).toBe(503);
  for (const path of ["/api/v1/events?noFollow=true", "/api/v1/views", "/api/v1/parked"]) {
    expect((await read(url, path)).status, path).toBe(200);
  }
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await expectRunServed(url, 3);
  await release();
  await vi.waitFor(async () => {
    expect((await read(url, "/api/v1/experiments")).status).toBe(200);
    expect(await lag()).toBe(0);
  }, 90_000);
});

test("a gateway whose database is away is not ready, answers calls with 503 and Retry-After, and lives on", async () => {
  const { rows } = await gateway.sql("select inet_server_port() as port");
  await using database = await CutPort.open((rows[0] as { port: number }).port);
  const patience = { lookMs: 20, awayMs: 100 };
  const url = await gateway.startAnother({ databasePort: database.port, patience });
  const answer = (path: string, init?: RequestInit) =>
    fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${gateway.token}` } });
  expect((await answer("/api/v1/experiments")).status).toBe(200);
  await database.cut();
  await vi.waitFor(async () => expect((await answer("/readyz")).status).toBe(503), 90_000);
  expect(await (await answer("/readyz")).text()).toMatch(/^the database has been away for \d+ s/);
  for (const [path, method] of [
    ["/api/v1/experiments", "GET"],
    ["/api/v1/experiments/1", "GET"],
    ["/api/v1/experiments/1/kill", "POST"],
  ] as const) {
    const refused = await answer(path, { method });
    expect({ path, status: refused.status }).toEqual({ path, status: 503 });
    expect(refused.headers.get("retry-after")).toBe("1");
  }
  expect((await answer("/livez")).status).toBe(200);
  await database.mend();
  await vi.waitFor(async () => expect((await answer("/readyz")).status).toBe(200), 90_000);
  expect((await answer("/api/v1/experiments")).status).toBe(200);
});
