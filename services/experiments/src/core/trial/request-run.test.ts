import { RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import {
  checkpointA,
  exampleResources,
  runEnded,
  runRequested,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";

const request = {
  kind: "request_run",
  experiment: "12",
  resources: exampleResources,
  workspace: "lab",
  owner: "",
  from: null,
  delayMs: 0,
} as const;

describe("requesting a run", () => {
  test("numbers runs from 1", () => {
    given(trialDecider, trialCreated()).when(request).then(runRequested(1));
    given(trialDecider, trialCreated(), runRequested(1), runEnded(1, RunEndWhy.LOST))
      .when(request)
      .then(runRequested(2));
  });

  test("names the checkpoint that the run starts from, and its step", () => {
    given(trialDecider, trialCreated())
      .when({ ...request, from: { checkpoint: checkpointA, step: 100 } })
      .then(runRequested(1, { fromCheckpoint: checkpointA, fromStep: 100 }));
  });

  test("names the trial's latest checkpoint if the run does not start from it because it is damaged", () => {
    given(trialDecider, trialCreated())
      .when({ ...request, damaged: checkpointA })
      .then(runRequested(1, { damagedCheckpoint: checkpointA }));
  });

  test("names the delay after a failed run", () => {
    given(trialDecider, trialCreated())
      .when({ ...request, delayMs: 4_000 })
      .then(runRequested(1, { delayMs: 4_000 }));
  });

  test("names the workspace and owner of the experiment", () => {
    given(trialDecider, trialCreated())
      .when({ ...request, workspace: "lab", owner: "ada" })
      .then(runRequested(1, { workspace: "lab", owner: "ada" }));
  });

  test("is refused while a run has not ended", () => {
    given(trialDecider, trialCreated(), runRequested(1)).when(request).thenRejected("run_unended");
  });

  test("is refused before the trial exists and after its end", () => {
    given(trialDecider).when(request).thenRejected("trial_not_open");
    given(trialDecider, trialCreated(), trialEnded(TrialOutcome.CANCELED, "canceled"))
      .when(request)
      .thenRejected("trial_not_open");
  });

  test("counts as a restart only after a failure", () => {
    const failed = [trialCreated(), runRequested(1), runEnded(1, RunEndWhy.FAILED)] as const;
    expect(given(trialDecider, ...failed).state.tries.restarts).toBe(0);
    expect(given(trialDecider, ...failed, runRequested(2)).state.tries.restarts).toBe(1);
    const preempted = runEnded(1, RunEndWhy.ACKNOWLEDGED_STOP);
    expect(
      given(trialDecider, trialCreated(), runRequested(1), preempted, runRequested(2)).state.tries
        .restarts,
    ).toBe(0);
  });

  test("drops the checkpoints beyond the step that the run starts from", () => {
    const history = [
      trialCreated(),
      runRequested(1),
      trialCheckpointed("c1", 1, 100),
      trialCheckpointed("c2", 1, 200),
      runEnded(1, RunEndWhy.FAILED),
      runRequested(2, { fromCheckpoint: "c1", fromStep: 100 }),
    ] as const;
    expect(given(trialDecider, ...history).state.checkpoints).toEqual([
      { checkpoint: "c1", run: 1, step: 100 },
    ]);
  });
});
