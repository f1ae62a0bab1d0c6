import { randomUUID } from "node:crypto";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Progress } from "./shell/dispatch/progress.ts";
import { subscriptionGauges } from "./subscription-metrics.ts";
import { experimentCreated, TestFeeds } from "./testing/test-feeds.ts";

const soon = { timeout: 15_000, interval: 50 };

let feeds: TestFeeds;

beforeAll(async () => {
  feeds = await TestFeeds.open();
  await feeds.start();
});
afterAll(() => feeds[Symbol.asyncDispose]());

const noFilter = {
  types: [],
  object: "",
  id: "",
  experiment: "",
  workspace: "",
  label: "",
  where: [],
};
const ended = (outcome: 1 | 3) =>
  ({ type: "ExperimentEnded", data: { outcome, reason: "it is over" } }) as const;

const arrive = (name: string, positions: readonly number[]) =>
  vi.waitFor(() => expect(feeds.sink.of(name)).toEqual(positions), soon);
const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });

test("a subscription gets the events that its filter selects, from its place on", async () => {
  const [, first] = [
    await feeds.stage.tell("experiment-1", experimentCreated({ labels: ["nightly"] })),
    await feeds.stage.tell("experiment-1", ended(3)),
  ];
  const filter = { ...noFilter, types: ["ExperimentEnded"], where: ["outcome=FAILED"] };
  expect(await feeds.create({ name: "failed", filter })).toMatchObject({
    kind: "ok",
    reply: { secret: "s3cret" },
  });
  await arrive("failed", [first]);
  await feeds.stage.tell("experiment-2", ended(1));
  const second = await feeds.stage.tell("experiment-3", ended(3));
  await arrive("failed", [first, second]);
  await vi.waitFor(async () => {
    expect(await feeds.facts("failed")).toMatchObject({ state: "ACTIVE", lagEvents: 0 });
  }, soon);
});

test("a name with U+0000 is that of no subscription", async () => {
  const page = { name: "a\0b", delivery: "", tokenId: "", owner: "", pageSize: 0, pageToken: "" };
  expect(await feeds.stage.ask("feeds", "ListSubscriptions", page)).toMatchObject({
    kind: "ok",
    reply: { items: [] },
  });
  expect(await feeds.stage.ask("feeds", "EnableSubscription", { name: "a\0b" })).toMatchObject(
    rejectedAs("subscription_not_found"),
  );
});

test("workspace and labels are those at delivery", async () => {
  await feeds.create({
    name: "nightly",
    filter: { ...noFilter, label: "nightly" },
    after: await feeds.stage.head(),
  });
  await feeds.create({
    name: "moved",
    filter: { ...noFilter, workspace: "7" },
    after: await feeds.stage.head(),
  });
  const first = await feeds.stage.tell("experiment-1", {
    type: "ExperimentPaused",
    data: { reason: "" },
  });
  await vi.waitFor(() => expect(feeds.sink.of("nightly").slice(0, 1)).toEqual([first]), soon);
  const second = await feeds.stage.tell("experiment-1", {
    type: "ExperimentMoved",
    data: { workspace: "7", project: "1" },
  });
  const described = { name: "e", description: "", labels: [], notes: "", revision: 1 };
  await feeds.stage.tell("experiment-1", { type: "ExperimentDescribed", data: described });
  await vi.waitFor(() => expect(feeds.sink.of("moved")).toContain(second), soon);
  const third = await feeds.stage.tell("experiment-1", {
    type: "ExperimentPaused",
    data: { reason: "" },
  });
  await vi.waitFor(() => expect(feeds.sink.of("moved")).toContain(third), soon);
  expect(feeds.sink.of("nightly")).not.toContain(third);
});

test("the events of a deleted experiment are selected by its last workspace and labels", async () => {
  const events = [
    experimentCreated({ labels: ["weekly"], workspace: "8" }),
    ended(1),
    { type: "ExperimentDeleted", data: {} } as const,
  ];
  const positions: number[] = [];
  for (const event of events) positions.push(await feeds.stage.tell("experiment-80", event));
  await feeds.create({ name: "weekly", filter: { ...noFilter, label: "weekly" } });
  await feeds.create({ name: "eighth", filter: { ...noFilter, workspace: "8" } });
  for (const name of ["weekly", "eighth"]) {
    await vi.waitFor(() => expect(feeds.sink.of(name)).toEqual(positions), soon);
  }
});

test("a failed sink gets the events after its settled place again", async () => {
  await feeds.create({
    name: "broken",
    after: await feeds.stage.head(),
    filter: { ...noFilter, object: "pool" },
  });
  const first = await feeds.stage.tell("pool-a", { type: "PoolRemoved", data: {} });
  await arrive("broken", [first]);
  feeds.sink.failsAfter = 0;
  const second = await feeds.stage.tell("pool-a", { type: "PoolRemoved", data: {} });
  await vi.waitFor(() => expect(feeds.sink.of("broken")).toEqual([first, second]), soon);
});

test("a filter that this version does not know keeps the place of its subscription", async () => {
  const pool = new pg.Pool({ connectionString: feeds.stage.url("ty_feeds") });
  const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
  const after = await feeds.stage.head();
  await feeds.create({ name: "newer", reader, after, filter: { ...noFilter, object: "pool" } });
  await vi.waitFor(async () => expect((await feeds.facts("newer"))?.lagEvents).toBe(0), soon);
  const text = JSON.stringify({ types: ["PoolFlooded"] });
  await pool.query("update feeds.subscriptions set filter = $1 where name = 'newer'", [text]);
  await pool.end();
  await feeds.create({ name: "other", reader, delivery: "pull" });
  const { position = 0 } = (await feeds.facts("newer")) ?? {};
  await feeds.stage.tell("pool-a", { type: "PoolRemoved", data: {} });
  await vi.waitFor(async () => {
    const found = await feeds.facts("newer");
    expect(found?.lastError).toContain("PoolFlooded");
    expect(found?.lagEvents).toBeGreaterThan(0);
    expect(found?.position).toBeLessThanOrEqual(position + 1);
  }, soon);
  await feeds.stage.ask("feeds", "DeleteSubscription", { name: "newer" });
});

test("a restarted service continues from the stored places", async () => {
  feeds.sink.positions.clear();
  await vi.waitFor(async () => expect((await feeds.facts("broken"))?.lagEvents).toBe(0), soon);
  await feeds.stop();
  const next = await feeds.stage.tell("pool-b", { type: "PoolRemoved", data: {} });
  await feeds.start();
  await arrive("broken", [next]);
});

test("a subscription stops with its token or an ancestor of it, and is adopted from its place", async () => {
  await feeds.create({
    name: "stops",
    after: await feeds.stage.head(),
    filter: { ...noFilter, object: "pool" },
  });
  await feeds.stage.tell("token-bb", {
    type: "TokenRevoked",
    data: { reason: "revoked by admin" },
  });
  await vi.waitFor(async () => {
    expect(await feeds.facts("stops")).toMatchObject({
      state: "STOPPED",
      reason: "its token bb was revoked by admin",
    });
  }, soon);
  const missed = await feeds.stage.tell("pool-c", { type: "PoolRemoved", data: {} });
  const reader = { owner: "eve", tokenId: "cc", ancestors: [], expiresAtMs: 0 };
  expect(await feeds.create({ name: "late" })).toMatchObject(rejectedAs("token_revoked"));
  expect(
    await feeds.stage.ask("feeds", "AdoptSubscription", { name: "stops", reader }),
  ).toMatchObject({ kind: "ok" });
  await arrive("stops", [missed]);
});

test("a pull subscription is acknowledged forward, and only at places of this log", async () => {
  const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
  await feeds.create({ name: "pulled", delivery: "pull", reader, after: 0 });
  const ack = (position: number, event = "") =>
    feeds.stage.ask("feeds", "AckSubscription", { name: "pulled", position, event });
  expect(await ack(2)).toMatchObject({ kind: "ok", reply: { position: 2 } });
  expect(await ack(1)).toMatchObject({ kind: "ok", reply: { position: 2 } });
  expect(await ack(10_000)).toMatchObject(rejectedAs("position_unknown"));
  expect(await ack(2, "00000000-0000-7000-8000-000000000000")).toMatchObject(
    rejectedAs("position_unknown"),
  );
  expect(await feeds.facts("pulled")).toMatchObject({ position: 2, delivery: "pull" });
});

test("the metrics of subscriptions say how far the last of each delivery is behind, without names", async () => {
  await feeds.create({ name: "unread", delivery: "pull", filter: noFilter, after: 0 });
  const head = await feeds.stage.head();
  const registry = createRegistry("feeds");
  const query = async (text: string, values: unknown[]) => ({
    rows: await feeds.stage.sql(text, values),
  });
  const log = {
    head: async () => head,
    readAll: async () => [{ timeMs: systemClock.nowMs() - 90_000 }],
  };
  const deps = { pool: { query }, log, clock: systemClock, sinks: [] };
  subscriptionGauges(registry, deps as unknown as Parameters<typeof subscriptionGauges>[1]);
  await vi.waitFor(async () => {
    const lines = await registry.metrics();
    expect(lines).toMatch(/trainyard_subscriptions\{delivery="pull",state="active",.*\} \d/);
    expect(lines).toContain(`lag_events{delivery="pull",service="feeds"} ${head}\n`);
    expect(lines).toMatch(/lag_seconds\{delivery="pull",service="feeds"\} 9\d\.?\d*\n/);
  }, soon);
  await feeds.stage.ask("feeds", "DeleteSubscription", { name: "unread" });
});

test("a deleted subscription leaves nothing behind, and its name may be used again", async () => {
  const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
  const again = () =>
    feeds.create({ name: "short", reader, after: 0, filter: { ...noFilter, object: "pool" } });
  await again();
  expect(await again()).toMatchObject(rejectedAs("subscription_exists"));
  await vi.waitFor(() => expect(feeds.sink.of("short").length).toBeGreaterThan(0), soon);
  const before = feeds.sink.of("short");
  expect(await feeds.stage.ask("feeds", "DeleteSubscription", { name: "short" })).toMatchObject({
    kind: "ok",
  });
  expect(feeds.sink.removed).toContain("short");
  expect(await feeds.facts("short")).toBeUndefined();
  await again();
  await arrive("short", [...before, ...before]);
});

test("the next subscription of a name is created after everything of the deleted one is forgotten", async () => {
  const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
  const prepared = () => feeds.sink.prepared.filter((name) => name === "turn").length;
  await feeds.create({ name: "turn", reader });
  const removal = Promise.withResolvers<void>();
  feeds.sink.removal = removal.promise;
  const deleted = feeds.stage.ask("feeds", "DeleteSubscription", { name: "turn" });
  await vi.waitFor(() => expect(feeds.sink.removed).toContain("turn"), soon);
  const next = feeds.create({ name: "turn", reader });
  // The command is served by now if it does not wait.
  for (let n = 0; n < 10; n += 1) await feeds.facts("turn");
  expect(prepared()).toBe(1);
  removal.resolve();
  expect(await deleted).toMatchObject({ kind: "ok" });
  expect(await next).toMatchObject({ kind: "ok" });
  expect(prepared()).toBe(2);
});

test("a place that settled late does not replace that of the next subscription of the name", async () => {
  const pool = new pg.Pool({ connectionString: feeds.stage.url("ty_feeds") });
  const progress = new Progress(pool, systemClock, createLogger("test", "silent"));
  await progress.begin({ name: "late", life: 20 }, { position: 21, event: "b" });
  progress.settled({ name: "late", life: 10 }, { position: 30, event: "a" });
  await progress.flush();
  const kept = (await progress.rows(["late"])).get("late");
  await pool.end();
  expect(kept).toMatchObject({ life: 20, position: 21, event: "b" });
});

test("a repeated creation gets the first answer, and of two creations at once one is refused", async () => {
  const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
  const commitId = randomUUID();
  const first = await feeds.create({ name: "twice", reader }, commitId);
  expect(first).toMatchObject({ kind: "ok", reply: { secret: "s3cret" } });
  expect(await feeds.create({ name: "twice", reader }, commitId)).toEqual(first);
  const both = await Promise.all([1, 2].map(() => feeds.create({ name: "both", reader })));
  expect(both.map(({ kind }) => kind).toSorted()).toEqual(["ok", "rejected"]);
});

test("bad requests are refused in one sentence", async () => {
  const filter = { ...noFilter, types: ["Nothing"] };
  for (const [request, code] of [
    [{ name: "Über" }, "invalid_request"],
    [{ name: "a", delivery: "pigeon" }, "invalid_request"],
    [{ name: "a", filter }, "invalid_filter"],
    [{ name: "a", filter: { ...noFilter, where: ["colour=red"] } }, "invalid_filter"],
    [{ name: "a", expiresAfterMs: 5 }, "invalid_request"],
  ] as const) {
    const reader = { owner: "admin", tokenId: "dd", ancestors: [], expiresAtMs: 0 };
    expect(await feeds.create({ reader, ...request })).toMatchObject(rejectedAs(code));
  }
});

test("the view equals the log", async () => {
  expect(Object.values(await feeds.stage.verify())).toEqual([""]);
});
