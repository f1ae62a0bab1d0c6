import { RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  checkpointA,
  exampleResources,
  runEnded,
  runRequested,
  runStarted,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";
import type { TrialEvent } from "./state.ts";

const request = {
  kind: "request_run",
  experiment: "12",
  resources: exampleResources,
  workspace: "lab",
  owner: "",
  from: null,
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
    expect(given(trialDecider, ...failed).state.restarts).toBe(0);
    expect(given(trialDecider, ...failed, runRequested(2)).state.restarts).toBe(1);
    const preempted = runEnded(1, RunEndWhy.ACKNOWLEDGED_STOP);
    expect(
      given(trialDecider, trialCreated(), runRequested(1), preempted, runRequested(2)).state
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

const on = (...agents: readonly string[]) => ({ agents, silent: [], platformAway: false });

describe("repeated launch failures", () => {
  const afterFailures = (failures: number): readonly TrialEvent[] => [
    trialCreated(),
    ...Array.from({ length: failures }, (_, n) => [
      runRequested(n + 1),
      runEnded(n + 1, RunEndWhy.LOST),
    ]).flat(),
  ];
  const delayAfter = (failures: number) => {
    const [event] = given(trialDecider, ...afterFailures(failures))
      .when(request)
      .events();
    return event?.type === "RunRequested" ? event.data.delayMs : null;
  };

  test("are retried at once, then after growing delays", () => {
    expect([0, 1, 2, 3, 4, 20].map(delayAfter)).toEqual([
      0,
      0,
      limits.launchDelayFirstMs,
      2 * limits.launchDelayFirstMs,
      4 * limits.launchDelayFirstMs,
      limits.launchDelayLastMs,
    ]);
  });

  test("never count as restarts", () => {
    const run = 100;
    given(trialDecider, ...afterFailures(run - 1), runRequested(run))
      .when({
        kind: "end_run",
        run,
        why: RunEndWhy.LOST,
        exits: [],
        message: "",
        launchFailure: on("a"),
      })
      .then(runEnded(run, RunEndWhy.LOST, { launchFailure: on("a") }));
  });

  test("exclude the agents where they happened, until a run starts", () => {
    const failedOn = (run: number, ...agents: readonly string[]) =>
      [runRequested(run), runEnded(run, RunEndWhy.LOST, { launchFailure: on(...agents) })] as const;
    const failed = [trialCreated(), ...failedOn(1, "a"), ...failedOn(2, "b", "a")] as const;
    const avoidedAfter = (...events: readonly TrialEvent[]) => {
      const [event] = given(trialDecider, ...events)
        .when(request)
        .events();
      return event?.type === "RunRequested" ? event.data.avoided : null;
    };
    expect(avoidedAfter(trialCreated())).toBeUndefined();
    expect(avoidedAfter(...failed)).toEqual({ agents: ["a", "b"] });
    const started = [runRequested(3), runStarted(3), runEnded(3, RunEndWhy.LOST)] as const;
    expect(avoidedAfter(...failed, ...started)).toBeUndefined();
  });

  test("exclude an agent but are not counted, if a service of the platform did not answer there", () => {
    const away = { ...on("a"), platformAway: true };
    const { state } = given(
      trialDecider,
      trialCreated(),
      runRequested(1),
      runEnded(1, RunEndWhy.LOST, { launchFailure: away }),
    );
    expect(state.unlaunched).toEqual({ attempts: 0, agents: [], avoid: ["a"] });
  });
});
