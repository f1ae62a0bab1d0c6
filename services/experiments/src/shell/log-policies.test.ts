/** Tests of the effect of log policies on a trial, with the match before and after other events. */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  crashed,
  experimentCreated,
  killed,
  trialProposed,
} from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;
const trial = "trial-12.1";
const allocation = (run: number) => `allocation-12.1#${run}`;

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
  await happens("experiment-12", experimentCreated(), activated);
  await happens("search-12", trialProposed());
  await happens(allocation(1), allocationStarted);
});

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

const matched = (action: string, data: Partial<EventData<"LogPolicyMatched">> = {}) =>
  happens("logsignal-12.1", {
    type: "LogPolicyMatched",
    data: {
      policy: "CUDA OOM",
      action,
      line: "CUDA out of memory",
      run: 1,
      agent: "gpu-7",
      nodeRank: 0,
      cursor: "17",
      ...data,
    },
  });

const lastOf = async () => (await stage.stream(trial)).at(-1);

test("cancel_retries before the run's end makes its failure the trial's", async () => {
  await matched("cancel_retries");
  expect(await lastOf()).toMatchObject({ type: "RunStarted" });
  await happens(allocation(1), crashed);
  expect(await lastOf()).toMatchObject({
    type: "TrialEnded",
    data: {
      outcome: TrialOutcome.FAILED,
      reason: expect.stringContaining('not repeated: log policy "CUDA OOM"') as string,
      restarts: 0,
    },
  });
});

test("cancel_retries after the start of the retry stops it, and the trial fails", async () => {
  await happens(allocation(1), crashed);
  await happens(allocation(2), allocationStarted);
  await matched("cancel_retries");
  expect(await lastOf()).toMatchObject({ type: "RunStopRequested", data: { run: 2 } });
  await happens(allocation(2), killed);
  expect(await lastOf()).toMatchObject({
    type: "TrialEnded",
    data: { outcome: TrialOutcome.FAILED },
  });
});

test("exclude_node lets the run continue, and excludes its agent from the trial's next runs", async () => {
  await matched("exclude_node");
  expect(await lastOf()).toMatchObject({ type: "RunStarted" });
  await happens(allocation(1), crashed);
  expect(await lastOf()).toMatchObject({
    type: "RunRequested",
    data: { run: 2, resources: { constraints: { excludedAgents: ["gpu-7"] } } },
  });
});

test("a policy that only records matches, or that matched for an unknown trial, changes nothing", async () => {
  await matched("");
  await happens("logsignal-99.1", {
    type: "LogPolicyMatched",
    data: {
      policy: "p",
      action: "cancel_retries",
      line: "",
      run: 1,
      agent: "",
      nodeRank: 0,
      cursor: "",
    },
  });
  await happens(allocation(1), crashed);
  expect(await lastOf()).toMatchObject({ type: "RunRequested", data: { run: 2 } });
});
