/** Tests of trials whose reports the search cannot use. */
import type { EventOf } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  experimentCreated,
  finished,
  trialProposed,
} from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

const search = "search-12";
const trial = "trial-12.1";
const allocation = "allocation-12.1#1";
const failing: EventOf<"TrialStopDecided"> = {
  type: "TrialStopDecided",
  data: {
    trial: 1,
    rule: "metric_missing",
    evidence: { metric: "loss", reported: ["accuracy"] },
    fails: true,
  },
};
const why = "metric_missing: a validation has no loss, the searcher's metric; it has accuracy";

let stage: Stage;

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
  await happens("experiment-12", experimentCreated(), activated);
  await happens(search, trialProposed());
  await happens(allocation, allocationStarted);
});

test("a trial that the search fails ends as failed with the search's reason, even if its run finishes", async () => {
  await happens(search, failing);
  await happens(allocation, finished);
  expect((await stage.stream(trial)).at(-1)).toMatchObject({
    type: "TrialEnded",
    data: { outcome: TrialOutcome.FAILED, reason: why },
  });
});

test("a finished trial that the search fails is recorded as failed, once", async () => {
  await happens(allocation, finished);
  await happens(search, failing);
  await happens(search, failing);
  expect((await stage.stream(trial)).slice(-2)).toMatchObject([
    { type: "TrialEnded", data: { outcome: TrialOutcome.COMPLETED } },
    { type: "TrialEnded", data: { outcome: TrialOutcome.FAILED, reason: why } },
  ]);
});
