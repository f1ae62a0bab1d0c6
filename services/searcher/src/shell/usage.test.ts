/** Tests of the usage that a budget of slot-hours needs: the start and end of each run. */
import type { EventOf } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import { experimentCreated } from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";

let stage: Stage;

beforeEach(() => {
  stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
});

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

function created(maxSlotHours: number | null): EventOf<"ExperimentCreated"> {
  const { type, data } = experimentCreated();
  const limits = { max_wall_time: null, max_slot_hours: maxSlotHours, max_trials: 9 };
  const config = { ...data.config, early_stopping: [{ name: "budget", ...limits }] };
  return { type, data: { ...data, config } };
}

const started: EventOf<"RunStarted"> = {
  type: "RunStarted",
  data: { run: 1, allocation: "12.1#1" },
};
const ended: EventOf<"RunEnded"> = {
  type: "RunEnded",
  data: {
    run: 1,
    why: RunEndWhy.FINISHED,
    exits: [],
    message: "",
    countsAsRestart: false,
  },
};

test("a search with a budget of slot-hours records each run's start and end, with the times of the log", async () => {
  await happens("experiment-12", created(5));
  await happens("trial-12.1", started);
  await happens("trial-12.1", ended);
  const usage = (await stage.stream("search-12")).flatMap((event) =>
    event.type === "RunUsageRecorded" ? [event.data] : [],
  );
  expect(usage).toEqual([
    { trial: 1, run: 1, started: true, atMs: expect.any(Number) },
    { trial: 1, run: 1, started: false, atMs: expect.any(Number) },
  ]);
});

test("a search without a budget of slot-hours records no usage", async () => {
  await happens("experiment-12", created(null));
  await happens("trial-12.1", started);
  await happens("trial-12.1", ended);
  expect(await stage.names("search-12")).not.toContain("RunUsageRecorded");
});
