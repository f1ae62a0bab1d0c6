import { Writable } from "node:stream";
import { newEventId } from "@trainyard/event-log";
import fc from "fast-check";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createRegistry } from "@trainyard/runtime";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { subscriptionGauges } from "./subscription-metrics.ts";
import { answers, PlayedReceivers } from "./testing/played-receivers.ts";
import { TestFeeds } from "./testing/test-feeds.ts";

const soon = { timeout: 15_000, interval: 20 };
const filter = {
  ...{ types: [], object: "pool", id: "", experiment: "", workspace: "", label: "", where: [] },
};

let feeds: TestFeeds;
let logged = "";
const outgoing = new PlayedReceivers();

beforeAll(async () => {
  feeds = await TestFeeds.open();
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      logged += chunk.toString();
      done();
    },
  });
  await feeds.start({ outgoing, logger: pino({ level: "debug" }, stream) });
});
afterAll(() => feeds[Symbol.asyncDispose]());

type Hook = {
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly secret?: string;
};

async function create(name: string, hook: Hook): Promise<string> {
  const after = await feeds.stage.head();
  const answer = await feeds.create({ name, delivery: "webhook", filter, after, ...hook });
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return answer.reply.secret;
}

const happen = () => feeds.stage.tell("pool-a", { type: "PoolRemoved", data: {} });
const ask = feedsAsk();
function feedsAsk() {
  const list = (name: string, more: object = {}) =>
    feeds.stage.ask("feeds", "ListDeliveries", {
      ...{ name, pageSize: 0, pageToken: "", state: "", ...more },
    });
  const rotate = (name: string, oldForMs: number, commitId = newEventId()) =>
    feeds.stage.ask("feeds", "RotateSecret", { name, oldForMs, secret: "" }, commitId);
  return { list, rotate };
}

async function listed(name: string, more: object = {}) {
  const answer = await ask.list(name, more);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return answer.reply;
}
const areDelivered = (name: string, count: number) =>
  vi.waitFor(async () => {
    const { items } = await listed(name);
    expect(items.map(({ state }) => state)).toEqual(Array(count).fill("DELIVERED"));
  }, soon);

test("a refused change leaves the URL as it was", async () => {
  await create("kept", { url: "https://kept.example/hook" });
  const change = {
    name: "kept",
    url: "https://other.example/hook",
    headers: {},
    expiresAfterMs: 5,
  };
  expect(await feeds.stage.ask("feeds", "ChangeSubscription", change)).toMatchObject({
    kind: "rejected",
  });
  expect(await feeds.facts("kept")).toMatchObject({ url: "https://kept.example" });
});

test("a webhook gets the events that its filter selects, and its list of deliveries shows them, the newest first", async () => {
  const url = "https://first.example/hook";
  outgoing.plays(url, () => ({ status: 202, answer: "thanks" }));
  const secret = await create("first", { url, headers: { "X-Team": "a-team" } });
  const positions = [await happen(), await happen(), await happen()];
  await feeds.stage.tell("agent-a", { type: "AgentDrained", data: { reason: "" } });
  await areDelivered("first", 3);
  const { items } = await listed("first");
  expect(items.map(({ position }) => position)).toEqual(positions.toReversed());
  expect(items[0]).toMatchObject({
    type: "dev.trainyard.pool.PoolRemoved.v1",
    subject: "pool-a",
    attempts: [{ status: 202, error: "", answer: "thanks" }],
  });
  expect(items[0]?.attempts[0]?.request).toContain(`"sequence":"${positions[2]}"`);
  const sent = outgoing.requests.find((request) => request.url === url);
  expect(sent?.headers).toMatchObject({ "x-team": "a-team", "webhook-signature": secret });
  const first = await listed("first", { pageSize: 2 });
  const second = await listed("first", { pageSize: 2, pageToken: first.nextPageToken });
  expect([...first.items, ...second.items]).toEqual(items);
  expect(second.nextPageToken).toBe("");
});

test("the facts of a webhook show its host and the names of its headers", async () => {
  const facts = await feeds.facts("first");
  expect(facts).toMatchObject({
    url: "https://first.example",
    headerNames: ["x-team"],
    waiting: 0,
    lastError: "",
  });
});

test("an event is sent again with the same id when a person asks for it", async () => {
  const url = "https://again.example/hook";
  await create("again", { url });
  await happen();
  await areDelivered("again", 1);
  const [id = ""] = outgoing.idsAt(url);
  const answer = await feeds.stage.ask("feeds", "RedeliverEvent", { name: "again", event: id });
  expect(answer.kind).toBe("ok");
  await vi.waitFor(() => expect(outgoing.idsAt(url)).toEqual([id, id]), soon);
  await areDelivered("again", 1);
  expect((await listed("again")).items[0]?.attempts).toHaveLength(2);
  const unknown = { name: "again", event: newEventId() };
  expect(await feeds.stage.ask("feeds", "RedeliverEvent", unknown)).toMatchObject({
    kind: "rejected",
    rejection: { rejected: "not_found" },
  });
});

test("a rotated secret signs beside the old one until its end, and a repeat returns the same secret", async () => {
  const url = "https://rotated.example/hook";
  const first = await create("rotated", { url });
  const commitId = newEventId();
  const answer = await ask.rotate("rotated", 60_000, commitId);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  const { secret: second, oldUntilMs } = answer.reply;
  expect(await ask.rotate("rotated", 60_000, commitId)).toMatchObject({
    reply: { secret: second, oldUntilMs },
  });
  await happen();
  await areDelivered("rotated", 1);
  const signature = () =>
    outgoing.requests.findLast((request) => request.url === url)?.headers["webhook-signature"];
  expect(signature()).toBe(`${second} ${first}`);
  expect(await feeds.facts("rotated")).toMatchObject({ oldSecretUntilMs: oldUntilMs });
  const third = await ask.rotate("rotated", 0);
  await happen();
  await areDelivered("rotated", 2);
  expect(third).toMatchObject({ kind: "ok", reply: { secret: signature() } });
  const events = await feeds.stage.events("subscription-rotated");
  expect(events.map(({ type }) => type)).toEqual([
    "SubscriptionCreated",
    "SubscriptionSecretRotated",
    "SubscriptionSecretRotated",
  ]);
  expect(JSON.stringify(events)).not.toContain("whsec_");
});

test("a test event is sent once, and the answer is returned", async () => {
  const url = "https://tested.example/hook";
  await create("tested", { url });
  outgoing.plays(url, () => ({ status: 500, answer: "out of order" }));
  const answer = await feeds.stage.ask("feeds", "TestWebhook", { name: "tested" });
  expect(answer).toMatchObject({ kind: "ok", reply: { status: 500, answer: "out of order" } });
  expect(outgoing.idsAt(url)).toHaveLength(1);
  expect((await listed("tested")).items).toEqual([]);
});

test("a webhook that answers 410 stops until a person enables it, and then gets what waited", async () => {
  const url = "https://gone.example/hook";
  await create("gone", { url });
  outgoing.plays(url, answers(410));
  await happen();
  await vi.waitFor(async () => {
    expect(await feeds.facts("gone")).toMatchObject({
      state: "DISABLED",
      reason: "the receiver answered 410: it wants no more events",
      lastError: "the receiver answered 410",
    });
  }, soon);
  await happen();
  outgoing.plays(url, answers(200));
  await feeds.stage.ask("feeds", "EnableSubscription", { name: "gone" });
  await vi.waitFor(() => expect(new Set(outgoing.idsAt(url)).size).toBe(2), soon);
  await vi.waitFor(async () => {
    const { items } = await listed("gone", { state: "DELIVERED" });
    expect(items).toHaveLength(2);
  }, soon);
}, 30_000);

test("a webhook is as far behind as the earliest event that its receiver has not taken", async () => {
  const url = "https://failing.example/hook";
  await create("failing", { url });
  outgoing.plays(url, answers(500));
  const position = await happen();
  const registry = createRegistry("feeds");
  const query = async (text: string, values: unknown[]) => ({
    rows: await feeds.stage.sql(text, values),
  });
  const log = { head: () => feeds.stage.head(), readAll: async () => [] };
  const deps = { pool: { query }, log, clock: systemClock, sinks: [] };
  subscriptionGauges(registry, deps as unknown as Parameters<typeof subscriptionGauges>[1]); // pg's overloads
  const lagEvents = async () =>
    Number(/lag_events\{delivery="webhook".*\} (\d+)/.exec(await registry.metrics())?.[1]);
  const head = await feeds.stage.tell("agent-a", { type: "AgentDrained", data: { reason: "" } });
  await vi.waitFor(async () => {
    expect((await listed("failing")).items[0]?.attempts).toHaveLength(1);
    expect((await feeds.facts("failing"))?.position).toBeGreaterThanOrEqual(head);
  }, soon);
  expect(await lagEvents()).toBeGreaterThanOrEqual(head - position + 1);
  await feeds.stage.ask("feeds", "DeleteSubscription", { name: "failing" });
});

test("a changed webhook is sent to its new address, and a deleted one leaves nothing behind", async () => {
  await create("changed", { url: "https://old.example/hook", headers: { "x-a": "1" } });
  const change = { name: "changed", url: "https://new.example/hook", headers: { "x-a": "" } };
  expect(await feeds.stage.ask("feeds", "ChangeSubscription", change)).toMatchObject({
    kind: "ok",
  });
  await happen();
  await vi.waitFor(() => expect(outgoing.idsAt("https://new.example/hook")).toHaveLength(1), soon);
  expect(outgoing.idsAt("https://old.example/hook")).toHaveLength(0);
  expect(await feeds.facts("changed")).toMatchObject({
    url: "https://new.example",
    headerNames: [],
  });
  await feeds.stage.ask("feeds", "DeleteSubscription", { name: "changed" });
  for (const table of ["deliveries", "attempts"]) {
    const rows = `select count(*)::integer as left from feeds.${table} where webhook = 'changed'`;
    expect(await feeds.stage.sql(rows)).toEqual([{ left: 0 }]);
  }
  expect(await ask.list("changed")).toMatchObject({
    kind: "rejected",
    rejection: { detail: 'there is no webhook "changed"' },
  });
});

test("bad webhooks are refused in one sentence", async () => {
  const refusal = async (hook: Hook, webhook?: object) => {
    const settings = { format: "", logPattern: "", namedOnly: false, ...webhook };
    const request = { name: "bad", delivery: "webhook", webhook: settings, ...hook };
    const answer = await feeds.create(request);
    return answer.kind === "rejected" ? answer.rejection.detail : answer.kind;
  };
  const url = "https://bad.example/hook";
  expect(await refusal({ url: "http://bad.example" })).toBe(
    "the URL of a webhook begins with https://",
  );
  expect(await refusal({ url }, { format: "teams" })).toMatch(/^"teams" is not a format/);
  expect(await refusal({ url, secret: "weak" })).toBe("a secret begins with whsec_");
  expect(await refusal({ url, headers: { host: "a" } })).toMatch(/^the header host is set/);
  expect(await refusal({ url }, { logPattern: "(" })).toMatch(/^log_pattern must be/);
  expect(await feeds.facts("bad")).toBeUndefined();
});

test("at most 100 webhooks have a log pattern", async () => {
  const url = "https://patterns.example/hook";
  const webhook = { format: "standard", logPattern: "OOM", namedOnly: false };
  const names = Array.from({ length: 100 }, (_, n) => `pattern-${n}`);
  const create = (name: string) => feeds.create({ name, delivery: "webhook", url, webhook });
  for (const name of names) expect(await create(name)).toMatchObject({ kind: "ok" });
  await vi.waitFor(async () => expect(await feeds.facts("pattern-99")).toBeDefined());
  const refused = { rejection: { rejected: "too_many_log_patterns" } };
  expect(await create("one-more")).toMatchObject(refused);
  const change = { name: "first", webhook, url: "", headers: {} };
  expect(await feeds.stage.ask("feeds", "ChangeSubscription", change)).toMatchObject(refused);
  for (const name of names) await feeds.stage.ask("feeds", "DeleteSubscription", { name });
}, 30_000);

test("no secret of generated URLs, headers and signatures is in an answer, an event or a line of the log", async () => {
  const word = fc.stringMatching(/^[A-Za-z0-9_~-]{12,40}$/);
  const hooks = fc.record({ path: word, key: word, header: word, secret: word });
  let number = 0;
  const check = async (hook: { path: string; key: string; header: string; secret: string }) => {
    number += 1;
    const name = `secret-${number}`;
    const url = `https://${name}.example/${hook.path}?key=${hook.key}`;
    const secret = `whsec_${hook.secret}`;
    outgoing.plays(url, ({ headers }) => ({
      status: 500,
      answer: `${url} ${JSON.stringify(headers)} ${decodeURI(url)}`,
    }));
    await create(name, { url, headers: { authorization: `Bearer ${hook.header}` }, secret });
    const tested = await feeds.stage.ask("feeds", "TestWebhook", { name });
    await happen();
    await vi.waitFor(async () => {
      expect((await listed(name)).items[0]?.attempts).toHaveLength(1);
      expect((await feeds.facts(name))?.lastError).not.toBe("");
    }, soon);
    const shown = JSON.stringify([
      ...[tested, await listed(name), await feeds.facts(name)],
      await feeds.stage.events(`subscription-${name}`),
    ]);
    for (const one of Object.values(hook)) {
      expect(shown).not.toContain(one);
      expect(logged).not.toContain(one);
    }
    await feeds.stage.ask("feeds", "DeleteSubscription", { name });
  };
  await fc.assert(fc.asyncProperty(hooks, check), { numRuns: 15 });
}, 60_000);
