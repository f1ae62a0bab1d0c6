/** Tests of trials that start from a checkpoint of another trial. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, describe, expect, test } from "vitest";
import {
  activated,
  allocationStarted,
  checkpointA,
  checkpointB,
  checkpointCompleted,
  crashed,
  exampleConfig,
  experimentCreated,
  trialProposed,
} from "../testing/examples.ts";
import { reactionHandlers } from "./reactions.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";

let stage: Stage;

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

describe("a trial that its search starts from another trial's checkpoint", () => {
  const copy = () => {
    const { type, data } = trialProposed(2, 1);
    const from = { startFromCheckpoint: checkpointA, startFromStep: 100, startFromTime: 100 };
    return { type, data: { ...data, ...from } };
  };

  beforeEach(async () => {
    stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
    await happens("experiment-12", experimentCreated(), activated);
    await happens("search-12", trialProposed());
    await happens("allocation-12.1#1", allocationStarted);
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
    await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 200));
  });

  test("starts from that checkpoint, at its step, and so does its restart", async () => {
    await happens("search-12", copy());
    await happens("allocation-12.2#1", allocationStarted, crashed);
    expect(await stage.stream("trial-12.2")).toMatchObject([
      { type: "TrialCreated", data: { warmStartCheckpoint: checkpointA, warmStartStep: 100 } },
      { type: "RunRequested", data: { run: 1, fromCheckpoint: checkpointA, fromStep: 100 } },
      { type: "RunStarted" },
      { type: "RunEnded" },
      { type: "RunRequested", data: { run: 2, fromCheckpoint: checkpointA, fromStep: 100 } },
    ]);
  });

  test("fails when the checkpoint is gone, so that the search can choose another", async () => {
    await stage.tell(`retention-${checkpointA}`, {
      type: "CheckpointCondemned",
      data: {
        competitors: [],
        referencesChecked: [],
        graceEndMs: 0,
        experiment: "12",
        by: "",
        reason: "",
      },
    });
    await happens("search-12", copy());
    expect((await stage.stream("trial-12.2")).at(-1)).toMatchObject({
      type: "TrialEnded",
      data: { outcome: TrialOutcome.FAILED },
    });
  });
});

describe("an experiment that names a checkpoint to start from", () => {
  const naming = (searcher: object) =>
    experimentCreated({ ...exampleConfig, searcher: { ...exampleConfig.searcher, ...searcher } });
  const first = async () => {
    await happens("search-12", trialProposed());
    return stage.stream("trial-12.1");
  };

  beforeEach(async () => {
    stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
    await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  });

  test("starts each of its trials from it, and counts their steps from 0", async () => {
    const source = { source_trial_id: "7.3", source_checkpoint_uuid: checkpointA };
    await happens("experiment-12", naming(source), activated);
    expect(await first()).toMatchObject([
      {
        type: "TrialCreated",
        data: { warmStartCheckpoint: checkpointA, sourceTrial: "7.3" },
      },
      { type: "RunRequested", data: { run: 1, fromCheckpoint: checkpointA, fromStep: 0 } },
    ]);
  });

  test("starts without a checkpoint if it was recorded before the keys had an effect", async () => {
    await happens("experiment-12", naming({ source_checkpoint_uuid: checkpointA }), activated);
    expect(await first()).toMatchObject([
      { type: "TrialCreated", data: { warmStartCheckpoint: "" } },
      { type: "RunRequested", data: { fromCheckpoint: "" } },
    ]);
  });
});
