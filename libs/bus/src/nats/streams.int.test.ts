import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";
import type { Fault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { bytes, eventsFrom, until } from "../contract/fixture.ts";
import { busLimits } from "../limits.ts";
import type { Bus } from "../port.ts";
import { startNats, startNatsCluster, type TestNats } from "../testing/nats-server.ts";
import { createNatsBus } from "./nats-bus.ts";
import { droppedOptions } from "./streams.ts";

async function configsOn(server: TestNats): Promise<Record<string, Record<string, unknown>>> {
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  const configs: Record<string, Record<string, unknown>> = {};
  for await (const { config } of manager.streams.list()) configs[config.name] = { ...config };
  await connection.close();
  return configs;
}

test("the three streams are created with the configured limits on first use", async () => {
  await using server = await startNats();
  await using bus = await createNatsBus({ servers: server.url, name: "relay" });
  expect(await configsOn(server)).toEqual({});
  await bus.publishEvents(eventsFrom(1, 1));
  bus.publishLive("METRICS", "ty.metric.1.1.g", bytes("1"));
  bus.publishLive("LOGS", "ty.log.1", bytes("1"));
  await until("all are there", async () => Object.keys(await configsOn(server)).length === 3);
  const { EVENTS, METRICS, LOGS } = await configsOn(server);
  expect(EVENTS).toMatchObject({
    subjects: ["ty.event.>"],
    storage: "file",
    retention: "limits",
    discard: "old",
    max_age: busLimits.eventsAgeMs * 1_000_000,
    max_bytes: busLimits.eventsBytes,
    duplicate_window: busLimits.eventsDuplicateWindowMs * 1_000_000,
  });
  const live = {
    storage: "file",
    max_age: busLimits.liveAgeMs * 1_000_000,
    max_bytes: busLimits.liveBytes,
  };
  expect(METRICS).toMatchObject({ ...live, subjects: ["ty.metric.>"] });
  expect(LOGS).toMatchObject({ ...live, subjects: ["ty.log.>"] });
});

test("changed limits are applied to an existing stream, which keeps its messages", async () => {
  await using server = await startNats();
  {
    await using bus = await createNatsBus({ servers: server.url, name: "relay" });
    await bus.publishEvents(eventsFrom(1, 5));
  }
  const limits = { ageMs: 60_000, bytes: 10_000_000, replicas: 1 };
  await using bus = await createNatsBus({
    servers: server.url,
    name: "relay",
    streams: { EVENTS: limits },
  });
  expect((await bus.lastEvent())?.position).toBe(5);
  expect((await configsOn(server))["EVENTS"]).toMatchObject({
    max_age: 60_000_000_000,
    max_bytes: 10_000_000,
  });
});

test("an existing stream keeps the number of replicas that an operator has chosen", async () => {
  await using stack = new AsyncDisposableStack();
  const servers = await startNatsCluster(3);
  for (const one of servers) stack.use(one);
  const [server] = servers;
  if (server === undefined) throw new Error("there is no server");
  await using connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 60_000 });
  // Each attempt fails while the cluster elects its leaders, and a repeat of an event is stored once.
  const publish = (bus: Bus, first: number, last: number) =>
    until(`the events from ${first} on are accepted`, () =>
      bus.publishEvents(eventsFrom(first, last)).then(
        () => true,
        () => false,
      ),
    );
  {
    await using bus = await createNatsBus({ servers: server.url, name: "relay" });
    await publish(bus, 1, 5);
  }
  const replicas = async () => (await manager.streams.info("EVENTS")).config.num_replicas;
  expect(await replicas()).toBe(1);
  await manager.streams.update("EVENTS", { num_replicas: 3 });
  const limits = { ageMs: 60_000, bytes: 10_000_000, replicas: 1 };
  const { servers: url, name } = { servers: server.url, name: "relay" };
  await using bus = await createNatsBus({ servers: url, name, streams: { EVENTS: limits } });
  await publish(bus, 6, 8);
  expect((await bus.lastEvent())?.position).toBe(8);
  expect(await replicas()).toBe(3);
  expect((await configsOn(server))["EVENTS"]).toMatchObject({ max_bytes: 10_000_000 });
});

test("retention by age keeps the chain's last id known", async () => {
  await using server = await startNats();
  const limits = { ageMs: 200, bytes: 10_000_000, replicas: 1 };
  await using bus = await createNatsBus({
    servers: server.url,
    name: "relay",
    streams: { EVENTS: limits },
  });
  await bus.publishEvents(eventsFrom(1, 5));
  await until("all have aged out", async () => (await bus.lastEvent()) === null);
  await bus.publishEvents(eventsFrom(6, 8));
  expect((await bus.lastEvent())?.position).toBe(8);
});

test("an option that the server drops is named", () => {
  const asked = { name: "EVENTS", subjects: ["ty.event.>"], max_age: 5, compression: "s2" };
  const answered = { name: "EVENTS", subjects: ["ty.event.>"], max_age: 6, storage: "file" };
  expect(droppedOptions(asked, answered)).toEqual(["max_age", "compression"]);
});

test("a server that drops an option is refused with a Fault that names it", async () => {
  await using server = await startNats();
  const problems: Fault[] = [];
  await using bus = await createNatsBus({
    servers: server.url,
    name: "metrics",
    onProblem: (problem) => problems.push(problem),
    // The server replaces a limit of 0 bytes by -1, no limit.
    streams: { METRICS: { ageMs: 600_000, bytes: 0, replicas: 1 } },
  });
  bus.publishLive("METRICS", "ty.metric.1.1.g", bytes("1"));
  await until("it is reported", () => problems.length > 0);
  expect(problems[0]).toMatchObject({ code: "stream_option_dropped", retry: "never" });
  expect(problems[0]?.message).toContain("max_bytes");
});
