import { RunEndWhy, StopMode, StopWhy } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  runEnded,
  runRequested,
  runStarted,
  runStopRequested,
  runStopWithdrawn,
  trialCreated,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";

const running = [trialCreated(), runRequested(1), runStarted(1)] as const;
const pause = {
  mode: StopMode.GRACEFUL,
  why: StopWhy.PAUSE,
  graceMs: limits.preemptionGraceMs,
};
const searchStop = {
  mode: StopMode.GRACEFUL,
  why: StopWhy.SEARCH_STOP,
  graceMs: limits.searchStopGraceMs,
};
const kill = { mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 };

describe("asking a run to stop", () => {
  test("names the run, the reason and its grace", () => {
    given(trialDecider, ...running)
      .when({ kind: "stop_run", stop: pause })
      .then(runStopRequested(1, StopWhy.PAUSE));
  });

  test("is recorded for a queued run too", () => {
    given(trialDecider, trialCreated(), runRequested(1))
      .when({ kind: "stop_run", stop: searchStop })
      .then(runStopRequested(1, StopWhy.SEARCH_STOP));
  });

  test("keeps the more severe of two stops", () => {
    given(trialDecider, ...running, runStopRequested(1, StopWhy.PAUSE))
      .when({ kind: "stop_run", stop: kill })
      .then(runStopRequested(1, StopWhy.KILL));
    given(trialDecider, ...running, runStopRequested(1, StopWhy.KILL))
      .when({ kind: "stop_run", stop: searchStop })
      .thenNothing();
    given(trialDecider, ...running, runStopRequested(1, StopWhy.SEARCH_STOP))
      .when({ kind: "stop_run", stop: pause })
      .thenNothing();
  });

  test("never grants more time with a more severe stop", () => {
    given(trialDecider, ...running, runStopRequested(1, StopWhy.PAUSE, 5_000))
      .when({ kind: "stop_run", stop: searchStop })
      .then(runStopRequested(1, StopWhy.SEARCH_STOP, 5_000));
  });

  test("is recorded once", () => {
    given(trialDecider, ...running, runStopRequested(1, StopWhy.PAUSE))
      .when({ kind: "stop_run", stop: pause })
      .thenNothing();
  });

  test("is ignored for a run that has ended", () => {
    given(trialDecider, ...running, runEnded(1, RunEndWhy.FINISHED))
      .when({ kind: "stop_run", stop: kill })
      .thenNothing();
  });
});

describe("withdrawing the stop of a run", () => {
  test("is recorded once, and a later stop is requested again with its whole grace", () => {
    const stopping = [...running, runStopRequested(1, StopWhy.PAUSE, 5_000)] as const;
    given(trialDecider, ...stopping)
      .when({ kind: "withdraw_stop" })
      .then(runStopWithdrawn(1));
    const withdrawn = [...stopping, runStopWithdrawn(1)] as const;
    given(trialDecider, ...withdrawn)
      .when({ kind: "withdraw_stop" })
      .thenNothing();
    given(trialDecider, ...withdrawn)
      .when({ kind: "stop_run", stop: pause })
      .then(runStopRequested(1, StopWhy.PAUSE));
  });

  test("is ignored for a kill, and for a run that has ended", () => {
    given(trialDecider, ...running, runStopRequested(1, StopWhy.KILL))
      .when({ kind: "withdraw_stop" })
      .thenNothing();
    given(
      trialDecider,
      ...running,
      runStopRequested(1, StopWhy.PAUSE),
      runEnded(1, RunEndWhy.ACKNOWLEDGED_STOP),
    )
      .when({ kind: "withdraw_stop" })
      .thenNothing();
  });
});
