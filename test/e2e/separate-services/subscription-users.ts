/** Tests the NATS users of subscriptions: the embedded server knows each for as long as its subscription lives. */
import { connect, errors, type NatsConnection } from "@nats-io/transport-node";
import { clusterStatus } from "@trainyard/local-cluster";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { world } from "./cluster.ts";

const soon = { timeout: 20_000, interval: 50 };
const own = "deliveries";

let connection: NatsConnection;
let refused: Set<string>;

beforeAll(async () => {
  const request = { name: own, delivery: "nats", filter: { object: "pool" } };
  const { nats } = await world.client.call("createSubscription", request);
  const servers = (await clusterStatus(world.home))?.natsUrl ?? "";
  const login = { servers, user: nats?.user ?? "", pass: nats?.password ?? "", reconnect: false };
  connection = await vi.waitFor(() => connect(login), soon);
  refused = new Set();
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type !== "error" || !(status.error instanceof errors.PermissionViolationError))
        continue;
      refused.add(`${status.error.operation} ${status.error.subject}`);
    }
  })();
});
afterAll(() => connection?.close());

test("the user of a subscription receives and answers its events, and may do nothing else", async () => {
  const others = [
    ...["ty.event.>", "ty.event.pool.default.PoolChanged", "ty.feed.other", "ty.feed.>", ">"],
    ...[`ty.feed-ack.${own}.*`, "ty.cmd.>", "$JS.API.>", "_INBOX.>", "_INBOX_gateway.>"],
  ];
  for (const subject of [`ty.feed.${own}`, ...others]) {
    connection.subscribe(subject, { callback: () => {} });
  }
  const targets = [
    ...[`ty.feed.${own}`, "ty.feed-ack.other.12", `ty.feed-ack.${own}`, `ty.feed-ack.${own}.1.2`],
    ...["ty.event.pool.default.PoolChanged", "ty.cmd.feeds.DeleteSubscription", "$JS.API.INFO"],
    ...["$JS.API.STREAM.PURGE.EVENTS", "_INBOX.x", "_INBOX_gateway.x", "$SYS.REQ.SERVER.PING"],
  ];
  for (const subject of [`ty.feed-ack.${own}.12`, ...targets]) connection.publish(subject, "");
  await connection.flush();
  expect([...refused].toSorted()).toEqual(
    [
      ...others.map((subject) => `subscription ${subject}`),
      ...targets.map((subject) => `publish ${subject}`),
    ].toSorted(),
  );
});

test("the user of a deleted subscription is disconnected, and may not connect again", async () => {
  const servers = (await clusterStatus(world.home))?.natsUrl ?? "";
  const closed = connection.closed();
  const request = { name: own, delivery: "nats", filter: { object: "pool" } };
  await world.client.call("deleteSubscription", { name: own });
  await closed;
  const { nats } = await world.client.call("createSubscription", request);
  const login = { servers, user: nats?.user ?? "", reconnect: false };
  const again = await vi.waitFor(() => connect({ ...login, pass: nats?.password ?? "" }), soon);
  await again.close();
  await world.client.call("deleteSubscription", { name: own });
  await vi.waitFor(async () => {
    const pass = nats?.password ?? "";
    await expect(connect({ ...login, pass })).rejects.toThrow(/authorization/i);
  }, soon);
});
