import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { CommandRequestOf } from "@trainyard/contracts/command-services";
import type { EventFilter } from "@trainyard/contracts/events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { addToken, addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let position: number;
/** The requests that feeds has received. */
let filters: (Plain<EventFilter> | undefined)[] = [];
let acknowledged: CommandRequestOf<"feeds", "AckSubscription">[] = [];

const stack = new AsyncDisposableStack();
const empty = { types: [], object: "", id: "", experiment: "", workspace: "", label: "" };
const all = { ...empty, where: [] };

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "Vision" } });
  position = await gateway.append("experiment-1", created({ name: "one" }));
  const shown = (name: string) => ({
    ...{ name, delivery: "pull", state: "ACTIVE", reason: "", filter: all, createdAtMs: 0 },
    ...{ position, event: "", lagEvents: 0, lagSeconds: 0, lastError: "" },
    ...{ url: "", headerNames: [], waiting: 0 },
  });
  stack.use(
    await gateway.serving("feeds", {
      ListSubscriptions: async ({ name, owner, tokenId }) => {
        // Every subscription is the admin's and the user vi's, who made it in a session.
        const isThere = ["", "user:local", "user:vi"].includes(owner) && tokenId === "";
        return { items: isThere ? [shown(name)] : [], nextPageToken: "" };
      },
      CreateSubscription: async ({ filter }) => {
        filters.push(filter);
        return { position, secret: "" };
      },
      ChangeSubscription: async ({ filter }) => {
        filters.push(filter);
        return { position, stream: "" };
      },
      AckSubscription: async (request) => {
        acknowledged.push(request);
        return { position: request.position, event: request.event };
      },
    }),
  );
});
afterAll(() => stack.disposeAsync());

const path = "/api/v1/subscriptions";
const post = (address: string, body: object, token?: string) =>
  gateway.call("POST", address, { body, ...(token === undefined ? {} : { token }) });

test.each(["", "/a:ack", "/a:adopt", "/a:rotate", "/a:test"])(
  "the token of a run may not call subscriptions%s",
  async (rest) => {
    const body = { name: "a", delivery: "pull" };
    const token = await gateway.runToken("1.1#1");
    const answer = await post(`${path}${rest}`, body, token);
    expect(answer).toMatchObject({ status: 403, body: { code: "not_for_runs" } });
  },
);

test("an id of another history, or ahead of the log, is not acknowledged", async () => {
  acknowledged = [];
  const ahead = String(position + 1_000);
  for (const place of [`${position}:${randomUUID()}`, `${ahead}:${randomUUID()}`, ahead]) {
    const { body } = await post(`${path}/a:ack`, { position: place });
    expect(body).toMatchObject({ code: "position_unknown" });
  }
  expect(acknowledged).toEqual([]);
  const [event] = await gateway.log.readAll(position - 1, 1);
  const place = `${position}:${event?.id}`;
  expect((await post(`${path}/a:ack`, { position: place })).body).toEqual({ position: place });
});

test("the filter of a subscription has its workspace as events name it", async () => {
  filters = [];
  const filter = { workspace: "vision" };
  await post(path, { name: "a", delivery: "pull", filter });
  await gateway.call("PATCH", `${path}/a`, { body: { filter } });
  expect(filters).toEqual([
    { ...all, workspace: "Vision" },
    { ...all, workspace: "Vision" },
  ]);
  const unknown = { name: "b", delivery: "pull", filter: { workspace: "nowhere" } };
  expect((await post(path, unknown)).body).toMatchObject({
    code: "workspace_not_found",
    detail: expect.stringContaining('"nowhere"'),
  });
  expect(filters).toHaveLength(2);
});

// The cluster has users from here on.
test("a subscription is seen and changed only by its creator and by admins of users", async () => {
  const other = await addUser(gateway, "vi", { role: "cluster-admin" });
  const stranger = await addUser(gateway, "sy", { role: "viewer", workspace: "Vision" });
  const address = `${path}/a`;
  const calls = [
    gateway.call("GET", address, { token: stranger.token }),
    gateway.call("PATCH", address, { body: { filter: all }, token: stranger.token }),
    gateway.call("DELETE", address, { token: stranger.token }),
    post(`${address}:ack`, { position: String(position) }, stranger.token),
    post(`${address}:adopt`, {}, stranger.token),
    post(`${address}:disable`, {}, stranger.token),
    post(`${address}:enable`, {}, stranger.token),
    post(`${address}:rotate`, {}, stranger.token),
    post(`${address}:test`, {}, stranger.token),
    gateway.call("GET", `${address}/deliveries`, { token: stranger.token }),
    gateway.call("GET", "/api/v1/events?subscription=a", { token: stranger.token }),
  ];
  for (const { status, body } of await Promise.all(calls)) {
    expect({ status, code: body["code"] }).toEqual({ status: 404, code: "subscription_not_found" });
  }
  const list = await gateway.call("GET", path, { token: stranger.token });
  expect(list.body).toMatchObject({ items: [] });
  const seen = await gateway.call("GET", address, { token: other.token });
  expect(seen.status).toBe(200);
  const hidden = { name: "b", delivery: "pull", filter: { workspace: "default" } };
  expect(await post(path, hidden, stranger.token)).toMatchObject({
    status: 404,
    body: { code: "workspace_not_found" },
  });
});

test("a limited token sees and changes no subscription that its owner made without it", async () => {
  const token = await addToken(gateway, "user:vi", [{ role: "viewer", workspaces: ["Vision"] }]);
  const address = `${path}/a`;
  for (const { status, body } of [
    await gateway.call("GET", address, { token }),
    await gateway.call("PATCH", address, { body: { url: "http://127.0.0.1:1/" }, token }),
    await post(`${address}:rotate`, {}, token),
  ]) {
    expect({ status, code: body["code"] }).toEqual({ status: 404, code: "subscription_not_found" });
  }
  expect((await gateway.call("GET", path, { token })).body).toMatchObject({ items: [] });
});
