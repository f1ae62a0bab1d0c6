import type { StoredEvent } from "@trainyard/event-log";
import { expect, test } from "vitest";
import { busLimits } from "../limits.ts";
import type { EventOrigin } from "../port.ts";
import {
  awkwardIds,
  eventAt,
  eventsFrom,
  type OpenFixture,
  positionsOf,
  until,
} from "./fixture.ts";

export function eventContract(open: OpenFixture): void {
  test("the live tail delivers the events as stored, in position order", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    const total = 3 * busLimits.eventsInFlightMax;
    const events = eventsFrom(1, total);
    await relay.publishEvents(events);
    await until("all are heard", () => heard.length === total);
    expect(heard).toEqual(events);
    expect(await relay.lastEvent()).toMatchObject({ position: total, id: events.at(-1)?.id });
  });

  test("an event names its log, its epoch and its previous event", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: EventOrigin[] = [];
    await service.tailEvents((_event, origin) => heard.push(origin));
    const epoch = { log: eventAt(1).id, epoch: "01931b5e-0000-7000-a000-000000000001" };
    await relay.publishEvents(eventsFrom(4, 5), epoch);
    await relay.publishEvents(eventsFrom(6, 6), epoch);
    const other = await fixture.connect("relay");
    expect(await other.lastEvent()).toEqual({ position: 6, id: eventAt(6).id, ...epoch });
    await other.publishEvents(eventsFrom(7, 7), epoch);
    await until("all are heard", () => heard.length === 4);
    // Events before the first published one are not in the stream.
    const previous = ["", eventAt(4).id, eventAt(5).id, eventAt(6).id];
    expect(heard).toEqual(previous.map((previousId) => ({ ...epoch, previousId })));
  });

  test("the tail of a new epoch begins at any position, even an earlier one", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: string[] = [];
    await service.tailEvents(({ position }, { epoch }) => heard.push(`${epoch} ${position}`));
    await relay.publishEvents(eventsFrom(7, 9), { log: "l", epoch: "a" });
    await relay.clearEvents();
    const other = eventAt(8, { id: "01931b5e-0000-7000-8000-00000000000e" });
    await relay.publishEvents([other], { log: "l", epoch: "b" });
    await until("the new one is heard", () => heard.length === 4);
    expect(heard).toEqual(["a 7", "a 8", "a 9", "b 8"]);
  });

  test("every attribute and body survives, whatever its characters", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("gateway");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    const none = { workspace: "", correlationid: "", causationid: "", authid: "", traceparent: "" };
    const events = awkwardIds.map((id, index) =>
      eventAt(index + 1, {
        stream: `trial-${id}`,
        body: JSON.stringify({ name: id }),
        meta: index === 0 ? { ...eventAt(1).meta, ...none } : { ...eventAt(1).meta, authid: id },
      }),
    );
    await relay.publishEvents(events);
    await until("all are heard", () => heard.length === events.length);
    expect(heard).toEqual(events);
  });

  test("the tail delivers only new events, and the positions show a gap", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    await relay.publishEvents(eventsFrom(1, 3));
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    await relay.publishEvents(eventsFrom(4, 5));
    await until("the rest is heard", () => heard.length === 2);
    expect(positionsOf(heard)).toEqual([4, 5]);
  });

  test("concurrent publishes stay in order", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    const runs = Array.from({ length: 20 }, (_, run) => eventsFrom(run * 50 + 1, run * 50 + 50));
    await Promise.all(runs.map((run) => relay.publishEvents(run)));
    await until("all are heard", () => heard.length === 1_000);
    expect(positionsOf(heard)).toEqual(positionsOf(runs.flat()));
    expect((await relay.lastEvent())?.position).toBe(1_000);
  });

  test("publishing stored events again changes nothing, even by another relay", async () => {
    await using fixture = await open();
    const first = await fixture.connect("relay");
    const second = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    expect(await second.lastEvent()).toBeNull();
    await first.publishEvents(eventsFrom(1, 10));
    await first.publishEvents(eventsFrom(5, 10));
    // The second relay read the stream's state before the first one published, so only the server can detect the
    // duplicates.
    await second.publishEvents(eventsFrom(1, 12));
    await until("all are heard", () => heard.length === 12);
    expect(positionsOf(heard)).toEqual(positionsOf(eventsFrom(1, 12)));
    expect(await first.lastEvent()).toMatchObject({ position: 12, id: eventAt(12).id });
  });

  test("another publisher's event causes a divergence Fault, and the event stays", async () => {
    await using fixture = await open();
    const first = await fixture.connect("relay");
    const second = await fixture.connect("relay");
    await first.publishEvents(eventsFrom(1, 3));
    expect(await second.lastEvent()).toMatchObject({ position: 3, id: eventAt(3).id });
    const other = eventAt(4, { id: "01931b5e-0000-7000-8000-00000000ffff" });
    await second.publishEvents([other]);
    await expect(first.publishEvents(eventsFrom(4, 600))).rejects.toMatchObject({
      code: "relay_diverged",
      retry: "now",
    });
    expect(await first.lastEvent()).toMatchObject({ position: 4, id: other.id });
    await first.publishEvents(eventsFrom(5, 6));
    expect((await second.lastEvent())?.position).toBe(6);
  });

  test("events out of order are a caller's bug, and none is published", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    await expect(relay.publishEvents([eventAt(1), eventAt(3), eventAt(2)])).rejects.toThrow(
      /position order/,
    );
    expect(await relay.lastEvent()).toBeNull();
  });

  test("an empty stream has no last event, and accepts any position as its first", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    expect(await relay.lastEvent()).toBeNull();
    await relay.publishEvents([]);
    await relay.publishEvents(eventsFrom(41, 43));
    expect(await relay.lastEvent()).toMatchObject({ position: 43, id: eventAt(43).id });
  });

  test("the next publish detects a wiped stream, which can be refilled, and the tail continues", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    await relay.publishEvents(eventsFrom(1, 3));
    await until("the first are heard", () => heard.length === 3);
    await fixture.wipe();
    await until("both are back", () => relay.connected() && service.connected());
    expect(await relay.lastEvent()).toBeNull();
    await relay.publishEvents(eventsFrom(2, 5));
    await until("the new ones are heard", () => heard.length === 5);
    expect(positionsOf(heard)).toEqual([1, 2, 3, 4, 5]);
  });

  test("a service reads the last event without preparing to publish, also before the stream exists", async () => {
    await using fixture = await open();
    const service = await fixture.connect("checkpoint-gc");
    expect(await service.lastPublished()).toBeNull();
    const relay = await fixture.connect("relay");
    const epoch = { log: eventAt(1).id, epoch: "01931b5e-0000-7000-8000-0000000000aa" };
    await relay.publishEvents(eventsFrom(1, 3), epoch);
    expect(await service.lastPublished()).toEqual({ position: 3, id: eventAt(3).id, ...epoch });
    await relay.clearEvents();
    expect(await service.lastPublished()).toBeNull();
  });

  test("a cleared stream is empty, and accepts the events of a rewound log", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    await relay.publishEvents(eventsFrom(1, 5));
    await relay.clearEvents();
    expect(await relay.lastEvent()).toBeNull();
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    const other = [2, 3].map((position) =>
      eventAt(position, { id: `01931b5e-0000-7000-8000-00000000000${position + 6}` }),
    );
    await relay.publishEvents(other);
    await until("they are heard", () => heard.length === 2);
    expect(heard).toEqual(other);
    expect(await relay.lastEvent()).toMatchObject({ position: 3, id: other[1]?.id });
  });

  test("while the server is down publishing fails as a Fault, and it succeeds after its return", async () => {
    await using fixture = await open();
    const relay = await fixture.connect("relay");
    const service = await fixture.connect("searcher");
    const heard: StoredEvent[] = [];
    await service.tailEvents((event) => heard.push(event));
    await relay.publishEvents(eventsFrom(1, 2));
    await until("the first are heard", () => heard.length === 2);
    await fixture.down();
    await until("both know", () => !relay.connected() && !service.connected());
    await expect(relay.publishEvents(eventsFrom(3, 4))).rejects.toMatchObject({ retry: "later" });
    await expect(relay.lastEvent()).rejects.toMatchObject({ retry: "later" });
    await fixture.up();
    await until("both are back", () => relay.connected() && service.connected());
    await relay.publishEvents(eventsFrom(3, 4));
    await until("the rest is heard", () => heard.length === 4);
    expect(positionsOf(heard)).toEqual([1, 2, 3, 4]);
  });
}
