import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { ManualClock } from "@trainyard/testing";
import { beforeEach, expect, test } from "vitest";
import { createLogger } from "../logging.ts";
import { emptyMeta } from "../work/correlation.ts";
import { DeletionHold, holdStream } from "./deletion-hold.ts";

const logger = createLogger("checkpoint-gc", "silent");
const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const held: AnyEvent = {
  type: "DeletionsHeld",
  data: { position: 3, event: "lost", noticedBy: "relay", detail: "the log went back" },
};
const released: AnyEvent = { type: "DeletionsReleased", data: { by: "ada", reason: "" } };

let clock: ManualClock;
let hub: MemoryHub;
let log: MemoryLog;
let hold: DeletionHold;
let reported: unknown[];

beforeEach(async () => {
  clock = new ManualClock();
  hub = createMemoryBus({ clock });
  log = createMemoryLog({ clock });
  reported = [];
  const client = log.as("checkpoint-gc");
  const bus = hub.connect("checkpoint-gc");
  hold = new DeletionHold({ name: "checkpoint-gc", log: client, bus, clock, logger });
  await hub.connect("registry").serve("registry", {
    RecordRewind: async ({ body }) => {
      reported.push(JSON.parse(Buffer.from(body).toString()));
      return { kind: "ok", body: Buffer.from("{}") };
    },
  });
});

async function tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
  const writes = [
    {
      stream,
      expectedVersion: log.store.version(stream),
      events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    },
  ];
  await log.as("others").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
}

/** Publishes the whole log, as the relay does. */
async function publish(name = log.store.events[0]?.id ?? ""): Promise<void> {
  const relay = hub.connect("relay");
  await relay.clearEvents();
  await relay.publishEvents(log.store.events.slice(), { log: name, epoch: newEventId() });
}

test("nothing is held in a log that never went back", async () => {
  expect(await hold.reason()).toBeNull();
  await tell("experiment-1", paused, paused);
  await publish();
  expect(await hold.reason()).toBeNull();
  await tell("experiment-1", paused);
  expect(await hold.reason()).toBeNull();
});

test("a recorded hold lasts until its release, and a later one holds again", async () => {
  await tell("experiment-1", paused);
  await tell(holdStream, held);
  expect(await hold.reason()).toMatch(
    /^deletions are held since .*: the log went back; "yard storage release"/,
  );
  await tell(holdStream, released);
  expect(await hold.reason()).toBeNull();
  await tell(holdStream, held);
  expect(await hold.reason()).not.toBeNull();
});

test("a process without a memory finds a rewind by the end of the relay's stream, and reports it", async () => {
  await tell("experiment-1", paused);
  const restore = log.store.backup();
  await tell("experiment-1", paused, paused);
  await publish();
  const lost = log.store.events[2]?.id;
  restore();
  expect(await hold.reason()).toContain(`does not have event ${lost} at position 3`);
  expect(reported).toEqual([{ position: 3, event: lost, noticedBy: "checkpoint-gc" }]);
  // The log has grown over the position, with another event.
  await tell("experiment-1", paused, paused, paused);
  expect(await hold.reason()).toContain(`does not have event ${lost} at position 3`);
  await publish();
  expect(await hold.reason()).toBeNull();
});

test("the stream of another log holds nothing", async () => {
  await tell("experiment-1", paused, paused);
  await publish();
  log = createMemoryLog({ clock });
  await tell("experiment-7", paused);
  const bus = hub.connect("checkpoint-gc");
  const other = { name: "checkpoint-gc", log: log.as("checkpoint-gc"), bus, clock, logger };
  expect(await new DeletionHold(other).reason()).toBeNull();
});

test("without the bus it is unknown whether deletions are held", async () => {
  const bus = hub.connect("checkpoint-gc");
  const deps = { name: "checkpoint-gc", log: log.as("checkpoint-gc"), bus, clock, logger };
  await bus[Symbol.asyncDispose]();
  await expect(new DeletionHold(deps).reason()).rejects.toMatchObject({ retry: "later" });
});
