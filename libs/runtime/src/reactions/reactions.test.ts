import type { EventOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { Fault } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import type { Aggregate } from "../folds/folds.ts";
import { runtimeLimits } from "../limits.ts";
import { Stage } from "../testing/stage.ts";
import type { ReactionHandlers } from "./reactions.ts";

type Activated = EventOf<"ExperimentActivated">;

/** A stream that accepts only one event. */
const marks: Aggregate<boolean, "mark", Activated> = {
  name: "mark",
  category: "experiment",
  decider: {
    initial: false,
    decide: (marked) => (marked ? [] : [{ type: "ExperimentActivated", data: {} }]),
    evolve: () => true,
  },
};

const fanOut = runtimeLimits.streamsPerPart + 40;

/** One event causes a mark on each of many streams, in more than one commit. */
const handlers: ReactionHandlers = {
  ExperimentPaused: async (_, work) => {
    for (let n = 1; n <= fanOut; n += 1) {
      await work.decide(marks, String(1_000 + n), "mark");
      await work.part();
    }
  },
};

/** A stage whose log fails once, at the commit with this number, as unreachable. */
function stageWithFault(at: number, written: boolean): Stage {
  let commits = 0;
  const strike = (): void => {
    throw new Fault("log_away", "the log cannot be reached", { retry: "later" });
  };
  const log = createMemoryLog({
    beforeCommit: ({ cursor }) => {
      if (cursor === undefined) return;
      commits += 1;
      if (commits === at && !written) strike();
    },
    afterCommit: ({ cursor }) => {
      if (cursor !== undefined && commits === at && written) strike();
    },
  }).as("experiments");
  return new Stage("experiments", () => handlers, log);
}

async function marked(log: EventLog): Promise<readonly string[]> {
  const events = await log.readAll(0, 10_000);
  return events.filter(({ type }) => type.includes("Activated")).map(({ stream }) => stream);
}

describe("a fan-out of several commits", () => {
  for (const at of [1, 2]) {
    for (const written of [false, true]) {
      const when = `its commit ${at} ${written ? "is written without an answer" : "is not written"}`;
      test(`reaches every stream once when ${when}`, async () => {
        const stage = stageWithFault(at, written);
        await stage.tell("experiment-1", { type: "ExperimentPaused", data: {} });
        await stage.settle();
        const streams = await marked(stage.log);
        expect(new Set(streams).size).toBe(fanOut);
        expect(streams.length).toBe(fanOut);
      });
    }
  }
});

test("an event whose commit was written but not answered is processed once", async () => {
  const stage = stageWithFault(2, true);
  await stage.tell("experiment-1", { type: "ExperimentPaused", data: {} });
  await stage.settle();
  await stage.tell("experiment-2", { type: "ExperimentPaused", data: {} });
  await stage.settle();
  expect(await stage.log.cursor("experiments", 0)).toMatchObject({ position: fanOut + 2 });
});
