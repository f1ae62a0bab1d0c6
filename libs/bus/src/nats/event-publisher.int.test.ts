/** Tests of the publisher that need a real server: repeats, refusals within a batch, kills, restarts, forgotten ids. */
import type { StoredEvent } from "@trainyard/event-log";
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { eventAt, eventsFrom, positionsOf, until } from "../contract/fixture.ts";
import { busLimits } from "../limits.ts";
import type { Bus } from "../port.ts";
import { startNats, type TestNats } from "../testing/nats-server.ts";
import { createNatsBus } from "./nats-bus.ts";

const relayOn = (server: TestNats): Promise<Bus> =>
  createNatsBus({ servers: server.url, name: "relay" });

/** The positions of all messages in EVENTS, read without the adapter to prove that nothing is duplicated. */
async function storedPositions(server: TestNats): Promise<readonly number[]> {
  const connection = await connect({ servers: server.url });
  try {
    const manager = await jetstreamManager(connection);
    const { state } = await manager.streams.info("EVENTS");
    const positions: number[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage("EVENTS", { seq });
      positions.push(Number(message?.header.get("ce-sequence")));
    }
    return positions;
  } finally {
    await connection.close();
  }
}

test("each event is stored once and in order, however the batches are split", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  const total = 2 * busLimits.eventsInFlightMax + 77;
  const runs = [
    eventsFrom(1, 1),
    eventsFrom(2, 131),
    eventsFrom(132, total - 5),
    eventsFrom(total - 4, total),
  ];
  await Promise.all(runs.map((run) => relay.publishEvents(run)));
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, total)));
});

test("a duplicate that only the server can detect counts as success", async () => {
  await using server = await startNats();
  await using first = await relayOn(server);
  await using second = await relayOn(server);
  await first.lastEvent();
  await second.lastEvent();
  await first.publishEvents(eventsFrom(1, 300));
  await second.publishEvents(eventsFrom(1, 300));
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, 300)));
});

test("a refused event makes all later events of its batch fail", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  await relay.publishEvents(eventsFrom(1, 2));
  const connection = await connect({ servers: server.url });
  const manager = await jetstreamManager(connection);
  // The server's lower limit refuses a large message that passes the client's check.
  await manager.streams.update("EVENTS", { max_msg_size: 4_000 });
  const large = eventAt(50, { body: JSON.stringify({ text: "x".repeat(10_000) }) });
  const run: readonly StoredEvent[] = [...eventsFrom(3, 49), large, ...eventsFrom(51, 700)];
  await expect(relay.publishEvents(run)).rejects.toMatchObject({ code: "relay_diverged" });
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, 49)));
  await manager.streams.update("EVENTS", { max_msg_size: -1 });
  await connection.close();
  await relay.publishEvents(run);
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, 700)));
});

test("an event too large for the server is refused by the client, with all events after it", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  const large = eventAt(2, {
    body: JSON.stringify({ text: "x".repeat(busLimits.messageBytesMax) }),
  });
  const run = [eventAt(1), large, eventAt(3)];
  await expect(relay.publishEvents(run)).rejects.toMatchObject({
    code: "message_too_large",
    retry: "never",
  });
  expect(await relay.lastEvent()).toMatchObject({ position: 1, id: eventAt(1).id });
});

test("repeated kill -9 of the server during a publish loses, duplicates and reorders nothing", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  const total = 6_000;
  let kills = 0;
  let stored = 0;
  const killing = (async () => {
    while (kills < 3) {
      const seen = stored;
      await until("some more are stored", () => stored > seen + 500 || stored === total);
      await server.restart();
      kills += 1;
    }
  })();
  while (stored < total) {
    const run = eventsFrom(stored + 1, Math.min(stored + 400, total));
    const published = await relay.publishEvents(run).then(
      () => true,
      () => false,
    );
    if (published) stored += run.length;
    else await until("the server is back", () => relay.connected());
  }
  await killing;
  await until("the stream can be read", () =>
    relay.lastEvent().then(
      () => true,
      () => false,
    ),
  );
  // The server acknowledges before the data reaches the disk, but killing only the process loses nothing.
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, total)));
});

test("a restarted server that has forgotten the last id causes no divergence after the stream's end is read", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  await relay.publishEvents(eventsFrom(1, 3));
  const connection = await connect({ servers: server.url, maxReconnectAttempts: -1 });
  const manager = await jetstreamManager(connection);
  const shortMs = 100;
  await manager.streams.update("EVENTS", { duplicate_window: shortMs * 1_000_000 });
  await connection.close();
  const stored = performance.now();
  await until("the window is over", () => performance.now() - stored > 2 * shortMs);
  await server.restart();
  await until("the relay is back", () => relay.connected());
  expect((await relay.lastEvent())?.position).toBe(3);
  await relay.publishEvents(eventsFrom(4, 6));
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, 6)));
});

test("a stalled server is a Fault, and the retry detects the events that were stored meanwhile", async () => {
  await using server = await startNats();
  await using relay = await relayOn(server);
  await relay.publishEvents(eventsFrom(1, 1));
  await server.pause();
  const refused = expect(relay.publishEvents(eventsFrom(2, 400))).rejects.toMatchObject({
    code: "publish_unconfirmed",
    retry: "later",
  });
  await refused;
  server.resume();
  await until("the repeat succeeds", () =>
    relay.publishEvents(eventsFrom(2, 400)).then(
      () => true,
      () => false,
    ),
  );
  expect(await storedPositions(server)).toEqual(positionsOf(eventsFrom(1, 400)));
});
