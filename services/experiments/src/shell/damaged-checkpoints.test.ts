/** Tests of trials whose checkpoint is found damaged. */
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import {
  activated,
  agentLost,
  allocationStarted,
  checkpointA,
  checkpointB,
  checkpointCompleted,
  crashed,
  exampleConfig,
  experimentCreated,
  trialProposed,
} from "../testing/examples.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { reactionHandlers } from "./reactions.ts";

let stage: Stage;

const damaged: AnyEvent = {
  type: "CheckpointDamaged",
  data: { problems: [], count: 1, by: "run:12.1#2" },
};
const repaired: AnyEvent = { type: "CheckpointRepaired", data: { by: "ada" } };

async function happens(stream: string, ...events: Parameters<Stage["tell"]>[1][]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

/** Begins an experiment whose trials may not be restarted after a failure. */
async function begin(searcher: object = {}): Promise<void> {
  const config = { ...exampleConfig, max_restarts: 0 };
  const named = { ...config, searcher: { ...config.searcher, ...searcher } };
  await happens("experiment-12", experimentCreated(named), activated);
  await happens("search-12", trialProposed());
}

async function requests() {
  const events = await stage.stream("trial-12.1");
  return events.flatMap((event) => (event.type === "RunRequested" ? [event.data] : []));
}

async function ofType(type: AnyEvent["type"]) {
  return (await stage.stream("trial-12.1")).filter((event) => event.type === type).at(-1);
}

beforeEach(() => {
  stage = new Stage("experiments", () => reactionHandlers(waitsBy(systemClock), noFanOuts));
});

test("a run whose checkpoint is damaged costs no restart, and the next run starts from the newest intact one", async () => {
  await begin();
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 200));
  await happens("allocation-12.1#1", agentLost);
  await happens("allocation-12.1#2", allocationStarted);
  await happens(`checkpoint-${checkpointB}`, damaged);
  await happens("allocation-12.1#2", crashed);
  expect(await ofType("RunEnded")).toMatchObject({
    data: { run: 2, why: RunEndWhy.FAILED, countsAsRestart: false },
  });
  const [, second, third] = await requests();
  expect(second).toMatchObject({ fromCheckpoint: checkpointB });
  expect(third).toMatchObject({
    fromCheckpoint: checkpointA,
    fromStep: 100,
    damagedCheckpoint: checkpointB,
  });
  await happens("allocation-12.1#3", allocationStarted, crashed);
  expect(await ofType("TrialEnded")).toMatchObject({ data: { outcome: TrialOutcome.FAILED } });
});

test("a trial whose only checkpoint is damaged starts without one, and its next failure counts", async () => {
  await begin();
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  await happens("allocation-12.1#1", agentLost);
  await happens("allocation-12.1#2", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, damaged);
  await happens("allocation-12.1#2", crashed);
  const last = (await requests()).at(-1);
  expect(last).toMatchObject({ run: 3, fromCheckpoint: "", damagedCheckpoint: checkpointA });
  await happens("allocation-12.1#3", allocationStarted, crashed);
  expect(await ofType("TrialEnded")).toMatchObject({ data: { outcome: TrialOutcome.FAILED } });
});

test("a failure counts as a restart if the run's checkpoint is intact again at its end", async () => {
  await begin();
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  await happens("allocation-12.1#1", agentLost);
  await happens("allocation-12.1#2", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, damaged, repaired);
  await happens("allocation-12.1#2", crashed);
  expect(await ofType("RunEnded")).toMatchObject({ data: { run: 2, countsAsRestart: true } });
});

test("a trial that has to start from another trial's damaged checkpoint fails and says so", async () => {
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  await begin({ source_trial_id: "7.3", source_checkpoint_uuid: checkpointA });
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, damaged);
  await happens("allocation-12.1#1", crashed);
  const reason = `the checkpoint ${checkpointA} that it has to start from is damaged`;
  expect(await ofType("TrialEnded")).toMatchObject({
    data: { outcome: TrialOutcome.FAILED, reason, restarts: 0 },
  });
});

test("a trial that its search copies starts from the newest intact checkpoint of the other", async () => {
  await begin();
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100));
  await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 200), damaged);
  await happens("search-12", trialProposed(2, 1));
  expect(await stage.stream("trial-12.2")).toMatchObject([
    { type: "TrialCreated", data: { warmStartCheckpoint: checkpointA } },
    { type: "RunRequested", data: { fromCheckpoint: checkpointA } },
  ]);
});

test("a trial that its search copies fails and says so if all checkpoints of the other are damaged", async () => {
  await begin();
  await happens("allocation-12.1#1", allocationStarted);
  await happens(`checkpoint-${checkpointA}`, checkpointCompleted(1, 100), damaged);
  await happens(`checkpoint-${checkpointB}`, checkpointCompleted(1, 200), damaged);
  await happens("search-12", trialProposed(2, 1));
  const reason = `the checkpoint ${checkpointB} that it has to start from is damaged`;
  expect(await stage.stream("trial-12.2")).toMatchObject([
    { type: "TrialCreated", data: { warmStartCheckpoint: checkpointB } },
    { type: "TrialEnded", data: { outcome: TrialOutcome.FAILED, reason } },
  ]);
});
