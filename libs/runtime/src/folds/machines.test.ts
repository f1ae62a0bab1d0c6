import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { expect, test } from "vitest";
import { emptyMeta } from "../work/correlation.ts";
import { Executor } from "../work/executor.ts";
import { FoldCache } from "./fold-cache.ts";
import { type Machine, machineFold } from "./machines.ts";

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };

/** A machine that counts its events and always decides on one more. */
class Counter implements Machine<"count"> {
  #kept: number;
  version: number;

  constructor(count = 0) {
    this.#kept = count;
    this.version = count;
  }

  apply(): void {
    this.version += 1;
  }

  undo(): void {
    this.version = this.#kept;
  }

  keep(): void {
    this.#kept = this.version;
  }

  decide(_command: "count"): readonly AnyEvent[] {
    return [paused];
  }
}

const counters = machineFold<Counter>({
  name: "counter",
  category: "experiment",
  create: () => new Counter(),
  snapshot: {
    schema: "counter/1",
    encode: ({ version }) => JSON.stringify({ version }),
    decode: (text) => new Counter((JSON.parse(text) as { version: number }).version),
  },
});

async function append(log: EventLog, expectedVersion: number): Promise<void> {
  const events = [{ id: newEventId(), ...encodeEvent(paused) }];
  const writes = [{ stream: "experiment-1", expectedVersion, events }];
  await log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
}

function decideOnce(executor: Executor): Promise<unknown> {
  return executor.execute({ commitId: newEventId(), meta: emptyMeta }, async (work) => {
    await work.decide(counters, "1", "count");
  });
}

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  "a snapshot of a machine has the events up to its version, even if another is applied %i ticks after the save began",
  async (ticks) => {
    const memory = createMemoryLog();
    const log = memory.as("experiments");
    const cache = new FoldCache(log);
    await append(log, 0);
    await cache.load(counters, "1");
    await append(log, 1);
    const [, second] = await log.read("experiment-1", 0, 2);
    const saving = cache.saveSnapshot(counters, "1");
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    if (second !== undefined) cache.observe(second);
    await saving;
    const saved = memory.store.snapshots.get("experiment-1\ncounter/1");
    expect(JSON.parse(saved?.body ?? "")).toMatchObject({ version: saved?.version });
    const { state, version } = await new FoldCache(log).load(counters, "1");
    expect([state.committed().version, version]).toEqual([2, 2]);
  },
);

test("a snapshot names the last event of its state, even if the log has another event there since", async () => {
  const memory = createMemoryLog();
  const log = memory.as("experiments");
  const executor = new Executor(log, new FoldCache(log));
  await append(log, 0);
  const restore = memory.store.backup();
  await decideOnce(executor);
  const [, decided] = await log.read("experiment-1", 0, 2);
  restore();
  await append(log, 1);
  await executor.cache.saveSnapshot(counters, "1");
  const saved = memory.store.snapshots.get("experiment-1\ncounter/1");
  expect(JSON.parse(saved?.body ?? "")).toEqual({ event: decided?.id, version: 2 });
});
