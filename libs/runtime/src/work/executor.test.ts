import { type EventOf, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { isRejection, reject } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import { type Aggregate, foldOf } from "../folds/folds.ts";
import { emptyMeta } from "./correlation.ts";
import { Executor } from "./executor.ts";
import type { Work } from "./work.ts";

type Event = EventOf<"ExperimentActivated" | "ExperimentPaused">;

const switches: Aggregate<boolean, "on" | "off" | "on_once", Event> = {
  name: "switch",
  category: "experiment",
  decider: {
    initial: false,
    decide: (isOn, command) => {
      if (command === "on_once" && isOn) return reject("is_on", "it is on");
      if (isOn === (command !== "off")) return [];
      return [{ type: isOn ? "ExperimentPaused" : "ExperimentActivated", data: {} }];
    },
    evolve: (_, { type }) => type === "ExperimentActivated",
  },
};

function replicas() {
  const log = createMemoryLog();
  const [one, two] = ["one", "two"].map((name) => {
    const client = log.as(name);
    return new Executor(client, new FoldCache(client));
  });
  if (one === undefined || two === undefined) throw new Error("there are two");
  const tell = (executor: Executor, command: "on" | "off" | "on_once") =>
    executor.execute({ commitId: newEventId(), meta: emptyMeta }, async (work) => {
      const decided = await work.decide(switches, "1", command);
      return isRejection(decided) ? decided : undefined;
    });
  return { log, one, two, tell };
}

test("a command that changes nothing compares its cached states with the log", async () => {
  const { one, two, tell } = replicas();
  await tell(one, "on");
  await tell(two, "off");
  expect(await tell(one, "on")).toMatchObject({ position: 3 });
});

test("a rejection depends on the log's state, not on a cached one", async () => {
  const { one, two, tell } = replicas();
  await tell(one, "on");
  await tell(two, "off");
  expect(await tell(one, "on_once")).toMatchObject({ position: 3 });
});

test("a command without an effect is answered without a position", async () => {
  const { one, tell } = replicas();
  await tell(one, "on");
  expect(await tell(one, "on")).toMatchObject({ position: 0 });
  expect(await tell(one, "on_once")).toMatchObject({ rejected: "is_on" });
});

test("a cached state is not used after the log lost events", async () => {
  const { log, one, tell } = replicas();
  const restore = log.store.backup();
  await tell(one, "on");
  restore();
  expect(await tell(one, "on")).toMatchObject({ position: 1 });
});

test("a cached state is not used if another event has replaced its last one", async () => {
  const { log, one, tell } = replicas();
  const restore = log.store.backup();
  await tell(one, "on");
  restore();
  const events = [{ id: newEventId(), ...encodeEvent({ type: "ExperimentPaused", data: {} }) }];
  const writes = [{ stream: "experiment-1", expectedVersion: 0, events }];
  await log.as("two").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  expect(await tell(one, "on")).toMatchObject({ position: 2 });
});

test("a stream that was assumed to be new is not read, and after a conflict the command decides again", async () => {
  const { one, two, tell } = replicas();
  const begin = (executor: Executor) =>
    executor.execute({ commitId: newEventId(), meta: emptyMeta }, async (work) => {
      work.begin(foldOf(switches), "1");
      const decided = await work.decide(switches, "1", "on_once");
      return isRejection(decided) ? decided : undefined;
    });
  expect(await begin(one)).toMatchObject({ position: 1 });
  expect(await begin(two)).toMatchObject({ rejected: "is_on" });
  expect(await tell(two, "off")).toMatchObject({ position: 2 });
});

test("a stream that was assumed to be new is read again if nothing was decided on it", async () => {
  const { one, two, tell } = replicas();
  await tell(one, "on");
  const seen: boolean[] = [];
  const look = (executor: Executor) =>
    executor.execute({ commitId: newEventId(), meta: emptyMeta }, async (work) => {
      work.begin(foldOf(switches), "1");
      seen.push(await work.load(foldOf(switches), "1"));
    });
  expect(await look(two)).toMatchObject({ position: 0 });
  expect(seen.at(-1)).toBe(true);
});

describe("steps of one commit", () => {
  const react = (executor: Executor, ...steps: readonly ((work: Work) => Promise<void>)[]) =>
    executor.reactTogether(
      steps,
      () => ({ commitId: newEventId(), meta: emptyMeta }),
      () => ({ consumer: "test", partition: 0, position: 1, part: 0 }),
    );
  /** An event of another service arrives between two steps. */
  async function passBy(log: EventLog, executor: Executor, version: number): Promise<void> {
    const [event] = await log.read("experiment-1", version - 1, 1);
    if (event !== undefined) executor.cache.observe(event);
  }

  test("decide each from the events up to its event", async () => {
    const { log, one, two, tell } = replicas();
    await tell(one, "on");
    const seen: boolean[] = [];
    const step = async (work: Work): Promise<void> => {
      seen.push(await work.load(foldOf(switches), "1"));
      await work.decide(switches, String(seen.length + 1), "on");
    };
    const later = async (work: Work): Promise<void> => {
      await tell(one, "off");
      await passBy(log.as("two"), two, 2);
      await step(work);
    };
    await react(two, step, later);
    expect(seen).toEqual([true, false]);
  });

  test("are refused together if a guarded stream changes between two steps", async () => {
    const { log, one, two, tell } = replicas();
    await tell(one, "on");
    const step = async (work: Work): Promise<void> => {
      await work.guard(foldOf(switches), "1");
      await work.decide(switches, "2", "on");
    };
    const later = async (): Promise<void> => {
      await tell(one, "off");
      await passBy(log.as("two"), two, 2);
    };
    await expect(react(two, step, later)).rejects.toThrow("experiment-1 moved");
    expect(await log.as("two").read("experiment-2", 0, 10)).toEqual([]);
  });
});
