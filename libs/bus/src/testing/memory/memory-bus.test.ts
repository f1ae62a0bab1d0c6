import type { Clock } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { bytes, commandOf, eventsFrom, positionsOf, text, until } from "../../contract/fixture.ts";
import { type BusFixture, busContract } from "../../contract/index.ts";
import { createMemoryBus, type Fate } from "./memory-hub.ts";

busContract("memory", async (): Promise<BusFixture> => {
  const hub = createMemoryBus();
  return {
    connect: async (name) => hub.connect(name),
    down: async () => hub.disconnect(),
    up: async () => hub.reconnect(),
    wipe: async () => {
      hub.disconnect();
      hub.wipe();
      hub.reconnect();
    },
    [Symbol.asyncDispose]: async () => {},
  };
});

/** A clock that moves only when the test advances it. */
function manualClock(): Clock & { advance(ms: number): void } {
  let nowMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly callback: () => void }>();
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    timer(afterMs, callback) {
      const timer = { dueMs: nowMs + afterMs, callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    advance(ms) {
      nowMs += ms;
      for (const timer of [...timers].sort((a, b) => a.dueMs - b.dueMs)) {
        if (timer.dueMs > nowMs || !timers.delete(timer)) continue;
        timer.callback();
      }
    },
  };
}

describe("faults of the memory bus", () => {
  test("a dropped event causes a gap, and a duplicated event is delivered once", async () => {
    const fates: Fate[] = [{}, { copies: 0 }, { copies: 2 }, {}];
    const hub = createMemoryBus({ fate: () => fates.shift() ?? {} });
    const heard: number[] = [];
    await hub.connect("searcher").tailEvents((event) => heard.push(event.position));
    await hub.connect("relay").publishEvents(eventsFrom(1, 4));
    await until("the last is heard", () => heard.includes(4));
    expect(heard).toEqual([1, 3, 4]);
  });

  test("a delayed event that others overtook causes a gap and is never delivered out of order", async () => {
    const clock = manualClock();
    const fates: Fate[] = [{}, { delayMs: 5 }, {}];
    const hub = createMemoryBus({ clock, fate: () => fates.shift() ?? {} });
    const heard: number[] = [];
    await hub.connect("searcher").tailEvents((event) => heard.push(event.position));
    await hub.connect("relay").publishEvents(eventsFrom(1, 3));
    await until("the last is heard", () => heard.includes(3));
    clock.advance(5);
    expect(heard).toEqual([1, 3]);
  });

  test("a request whose reply is lost times out by the supplied clock", async () => {
    const clock = manualClock();
    const hub = createMemoryBus({
      clock,
      fate: ({ kind }) => (kind === "reply" ? { copies: 0 } : {}),
    });
    let handled = 0;
    await hub.connect("registry").serve("registry", {
      DeclareCheckpoint: async ({ body }) => {
        handled += 1;
        return { kind: "ok", body };
      },
    });
    const asked = hub
      .connect("gateway")
      .request("registry", "DeclareCheckpoint", commandOf("x"), 700);
    const ended = expect(asked).rejects.toMatchObject({ code: "deadline_exceeded" });
    await until("it was handled", () => handled === 1);
    clock.advance(700);
    await ended;
  });

  test("a duplicated request is handled twice and answered once", async () => {
    const hub = createMemoryBus({ fate: ({ kind }) => (kind === "request" ? { copies: 2 } : {}) });
    let handled = 0;
    await hub.connect("registry").serve("registry", {
      DeclareCheckpoint: async () => {
        handled += 1;
        return { kind: "ok", body: bytes(String(handled)) };
      },
    });
    const gateway = hub.connect("gateway");
    const reply = await gateway.request("registry", "DeclareCheckpoint", commandOf("x"), 700);
    expect(reply.kind === "ok" && text(reply.body)).toBe("1");
    expect(handled).toBe(2);
  });

  test("one client can be disconnected alone", async () => {
    const hub = createMemoryBus();
    const heard = { one: [] as number[], two: [] as number[] };
    await hub.connect("one").tailEvents((event) => heard.one.push(event.position));
    await hub.connect("two").tailEvents((event) => heard.two.push(event.position));
    const relay = hub.connect("relay");
    hub.disconnect("one");
    await relay.publishEvents(eventsFrom(1, 1));
    await until("the other hears it", () => heard.two.length === 1);
    hub.reconnect("one");
    await relay.publishEvents(eventsFrom(2, 2));
    await until("both hear the next", () => heard.one.length === 1 && heard.two.length === 2);
    expect(heard.one).toEqual(positionsOf(eventsFrom(2, 2)));
  });
});
