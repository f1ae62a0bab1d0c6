import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { LogLevel } from "@trainyard/contracts/commands";
import { type CommandTable, commandHandlers, createLogger } from "@trainyard/runtime";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { foldingServices } from "../api/cluster/verify.ts";
import { created, requested, searchStarted, trialCreated } from "../testing/example-events.ts";
import { openStream, StreamText } from "../testing/streams.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;
const services = new AsyncDisposableStack();
let logsFail = false;
let verifying = 0;
let verifyingFails = false;

beforeAll(async () => {
  gateway = services.use(await startTestGateway());
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", searchStarted());
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  let cursor = 0;
  services.use(
    await gateway.serving("logs", {
      QueryLines: async ({ after }) => {
        if (logsFail) throw new Error("a test");
        if (after !== "") return { lines: [], more: false, next: after };
        cursor += 1;
        const level = LogLevel.UNSPECIFIED;
        const next = String(cursor);
        const line = { trial: "1.1", run: 1, cursor: next, level, receivedAtMs: 9 };
        return { lines: [line], more: false, next };
      },
    }),
  );
  for (const service of foldingServices) {
    const VerifyViews: CommandTable<"common">["VerifyViews"] = async () => {
      verifying += 1;
      // A service that is still verifying answers after a while.
      await setTimeout(50);
      if (verifyingFails) throw new Error("a test");
      return { done: false, views: [] };
    };
    const handlers = commandHandlers(service, { VerifyViews }, createLogger(service, "silent"));
    services.use(await gateway.bus.serve(service, handlers));
  }
});

afterAll(() => services.disposeAsync());

/** Renames the table that the gateway reads the log from, and renames it back. */
const takeLogAway = () => gateway.sql("alter table log.events rename to events_away");
const giveLogBack = () => gateway.sql("alter table log.events_away rename to events");

const logStream = {
  fail: takeLogAway,
  mend: giveLogBack,
};
const lineStream = {
  fail: async () => {
    logsFail = true;
  },
  mend: async () => {
    logsFail = false;
  },
};

const verification = {
  fail: async () => {
    verifyingFails = true;
  },
  mend: async () => {
    verifyingFails = false;
  },
};

const streams = [
  ["events", "GET", "/api/v1/events", logStream],
  ["a search's events", "GET", "/api/v1/experiments/1/search/events", logStream],
  ["a trial's lines", "GET", "/api/v1/trials/1.1/logs:follow", lineStream],
  ["an experiment's lines", "GET", "/api/v1/experiments/1/logs:follow", lineStream],
  ["a verification", "POST", "/api/v1/log:verify", verification],
] as const;

/** Waits for the first message of the stream. */
async function firstOf(stream: IncomingMessage): Promise<StreamText> {
  const reading = new StreamText(stream);
  await vi.waitFor(() => expect(reading.text).toContain("\ndata: "), 90_000);
  return reading;
}

async function expectOthersServed(): Promise<void> {
  await vi.waitFor(async () => {
    expect((await gateway.call("GET", "/api/v1/experiments/1")).status).toBe(200);
  }, 90_000);
  const others = await gateway.call("GET", "/api/v1/events?noFollow=true");
  expect(String(others.body["text"])).toContain("event: end");
}

describe.each(streams)("a stream of %s", (_name, method, path, { fail, mend }) => {
  it("ends with a problem when its source fails in the middle, and no other call ends", async () => {
    const stream = await openStream(gateway, path, method);
    const reading = await firstOf(stream);
    await fail();
    await reading.ended;
    await mend();
    expect(reading.text).toContain(method === "GET" ? "event: problem" : '"unverified":true');
    await expectOthersServed();
  });

  it("ends when its client disconnects in the middle, and no other call ends", async () => {
    const before = await openSockets();
    const stream = await openStream(gateway, path, method);
    await firstOf(stream);
    stream.destroy();
    // The count includes connections of the database pool, which close after 10 s without use.
    const soon = { timeout: 90_000 };
    await vi.waitFor(async () => expect(await openSockets()).toBeLessThanOrEqual(before), soon);
    await expectOthersServed();
  });
});

it("a verification whose client has disconnected asks no further service", async () => {
  const stream = await openStream(gateway, "/api/v1/log:verify", "POST");
  await firstOf(stream);
  stream.destroy();
  let seen = -1;
  await vi.waitFor(
    () => {
      const still = verifying === seen;
      seen = verifying;
      expect(still).toBe(true);
    },
    { timeout: 90_000, interval: 300 },
  );
});

/** Returns the number of open sockets of this process, as server and as client. */
async function openSockets(): Promise<number> {
  const { body } = await gateway.call("GET", "/metrics");
  const found = /nodejs_active_handles\{type="Socket".*\} (\d+)/.exec(String(body["text"]));
  return Number(found?.[1]);
}

it("the event stream of an experiment has exactly the events of its streams", async () => {
  await gateway.append("experiment-11", created({}));
  await gateway.append("trial-1.2", trialCreated(2));
  await gateway.append("trial-11.1", trialCreated(1));
  const { body } = await gateway.call("GET", "/api/v1/events?experiment=1&noFollow=true");
  const subjects = [...String(body["text"]).matchAll(/"subject":"([^"]+)"/g)].map(([, id]) => id);
  expect([...new Set(subjects)]).toEqual(["experiment-1", "search-1", "trial-1.1", "trial-1.2"]);
});
