import { encodeEvent, type EventOf } from "@trainyard/contracts";
import { createMemoryLog, newEventId } from "@trainyard/event-log";
import { isRejection, reject } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { Executor } from "./executor.ts";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { emptyMeta } from "./story.ts";

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

test("a command that finds nothing to do has looked at the log, not only at what it remembers", async () => {
  const { one, two, tell } = replicas();
  await tell(one, "on");
  await tell(two, "off");
  expect(await tell(one, "on")).toMatchObject({ position: 3 });
});

test("a rejection depends on the log, not on what is remembered", async () => {
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

test("a remembered state is not used after the log went back", async () => {
  const { log, one, tell } = replicas();
  const restore = log.store.backup();
  await tell(one, "on");
  restore();
  expect(await tell(one, "on")).toMatchObject({ position: 1 });
});

test("a remembered state is not used when another event has replaced its last one", async () => {
  const { log, one, tell } = replicas();
  const restore = log.store.backup();
  await tell(one, "on");
  restore();
  const events = [{ id: newEventId(), ...encodeEvent({ type: "ExperimentPaused", data: {} }) }];
  const writes = [{ stream: "experiment-1", expectedVersion: 0, events }];
  await log.as("two").append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
  expect(await tell(one, "on")).toMatchObject({ position: 2 });
});
