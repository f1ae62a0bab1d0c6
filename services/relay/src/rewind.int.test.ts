/** Tests with a rewound log on a real PostgreSQL and the stream of a real NATS server, read by an external consumer. */
import { type Bus, createNatsBus, type EventOrigin } from "@trainyard/bus";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import type { StoredEvent } from "@trainyard/event-log";
import { createLogger, type Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";

let stage: DatabaseStage;
let nats: TestNats;
let outside: Bus;
let heard: { readonly event: StoredEvent; readonly origin: EventOrigin }[] = [];
let said: unknown[] = [];
/** The rewinds that were reported to the registry. */
let reported: unknown[] = [];

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 100 });

beforeAll(async () => {
  stage = await DatabaseStage.start("relay");
  nats = await startNats();
  outside = await createNatsBus({ servers: nats.url, name: "relay" });
  await outside.tailEvents((event, origin) => heard.push({ event, origin }));
  await outside.serve("registry", {
    RecordRewind: async ({ body }) => {
      reported.push(JSON.parse(new TextDecoder().decode(body)));
      return { kind: "ok", body: new TextEncoder().encode("{}") };
    },
  });
});
afterAll(async () => {
  await outside[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stage.restoreTo(0);
  await outside.clearEvents();
  heard = [];
  [said, reported] = [[], []];
});

async function relay(): Promise<Service> {
  const logger = createLogger("relay", "silent");
  logger.error = (fields: unknown) => void said.push(fields);
  const config = parseConfig({ ...stage.variables, TRAINYARD_NATS_URL: nats.url });
  const service = await createService(config, { logger });
  await service.start();
  return service;
}

async function tell(...pools: readonly string[]): Promise<void> {
  for (const pool of pools) await stage.tell(`pool-${pool}`, { type: "PoolRemoved", data: {} });
}

const idsInLog = async (): Promise<readonly string[]> =>
  (await stage.sql<{ id: string }>("select id from log.events order by position")).map(
    ({ id }) => id,
  );
const epochs = (): readonly string[] => [...new Set(heard.map(({ origin }) => origin.epoch))];
const idsOf = (epoch: string | undefined): readonly string[] =>
  heard.filter(({ origin }) => origin.epoch === epoch).map(({ event }) => event.id);

test("the relay logs that a log went back, and fills its stream again as a new epoch", async () => {
  await using _running = await relay();
  await tell("a", "b", "c", "d");
  const before = await idsInLog();
  await until(() => expect(idsOf(epochs()[0])).toEqual(before));
  await stage.restoreTo(2);
  await tell("x");
  const after = await idsInLog();
  expect(after).toEqual([...before.slice(0, 2), after[2]]);
  await until(() => expect(idsOf(epochs()[1])).toEqual(after));
  await tell("y");
  await until(async () => expect(idsOf(epochs()[1])).toEqual(await idsInLog()));
  expect(epochs()).toHaveLength(2);
  expect(said).toEqual([
    {
      detail: `the stream's last event is ${before[3]} at position 4, but the log ends before it: the log went back, and the stream is filled from it again as a new epoch`,
    },
  ]);
  expect(reported).toEqual([{ position: 4, event: before[3], noticedBy: "relay" }]);
  // Each event names its log and its predecessor, by which an external consumer detects the break.
  const young = heard.filter(({ origin }) => origin.epoch === epochs()[1]);
  expect(young.map(({ origin }) => origin)).toEqual(
    ["", ...(await idsInLog()).slice(0, -1)].map((previousId) => ({
      log: before[0],
      epoch: epochs()[1],
      previousId,
    })),
  );
  const logs = (await outside.lastEvent())?.position;
  expect(logs).toBe(4);
});

test("a log that was rewound and then grew while the relay was stopped is detected at the relay's start", async () => {
  const first = await relay();
  await tell("a", "b", "c");
  const before = await idsInLog();
  await until(() => expect(idsOf(epochs()[0])).toEqual(before));
  await first[Symbol.asyncDispose]();
  await stage.restoreTo(1);
  await tell("x", "y", "z");
  await using _second = await relay();
  await until(async () => expect(idsOf(epochs()[1])).toEqual(await idsInLog()));
  expect(said).toEqual([
    {
      detail: expect.stringMatching(
        /^the stream's last event is \S+ at position 3, but the log has \S+ there: /,
      ),
    },
  ]);
});

test("a database connection that breaks and returns with the same log is not a rewind", async () => {
  await using _running = await relay();
  await tell("a", "b");
  await until(async () => expect(idsOf(epochs()[0])).toEqual(await idsInLog()));
  await stage.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ty_relay'",
  );
  await tell("c");
  await until(async () => expect(idsOf(epochs()[0])).toEqual(await idsInLog()));
  expect([epochs().length, said]).toEqual([1, []]);
});
