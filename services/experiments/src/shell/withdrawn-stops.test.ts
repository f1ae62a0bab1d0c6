import { TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, describe, expect, test } from "vitest";
import {
  acknowledged,
  activated,
  allocationEnded,
  allocationStarted,
  exit,
  experimentCreated,
  finished,
  paused,
  trialProposed,
} from "../testing/examples.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { reactionHandlers } from "./reactions.ts";

const experiment = "experiment-12";
const trial = "trial-12.1";
const allocation = "allocation-12.1#1";

let stage: Stage;

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

async function last(count: number): Promise<readonly string[]> {
  return (await stage.names(trial)).slice(-count);
}

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
  await happens(experiment, experimentCreated(), activated);
  await happens("search-12", trialProposed());
  await happens(allocation, allocationStarted);
  await happens(experiment, paused);
});

describe("an experiment that is paused and activated again", () => {
  test("keeps its run", async () => {
    await happens(experiment, activated);
    expect(await last(2)).toEqual(["RunStopRequested", "RunStopWithdrawn"]);
    await happens(allocation, finished);
    expect((await stage.stream(trial)).at(-1)).toMatchObject({
      type: "TrialEnded",
      data: { outcome: TrialOutcome.COMPLETED },
    });
  });

  test("gets its next run if the script obeyed the stop before it was withdrawn", async () => {
    await happens(experiment, activated);
    await happens(allocation, acknowledged);
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
  });

  test("gets its next run if the script got SIGTERM before, and that is no failure", async () => {
    await happens(allocation, { type: "AllocationStopAcknowledged", data: {} });
    await happens(experiment, activated);
    expect(await last(1)).toEqual(["RunStopRequested"]);
    await happens(allocation, allocationEnded({ exits: [exit(0, "SIGTERM")] }));
    expect(await last(2)).toEqual(["RunEnded", "RunRequested"]);
    expect((await stage.stream(trial)).at(-2)).toMatchObject({ data: { countsAsRestart: false } });
  });
});
