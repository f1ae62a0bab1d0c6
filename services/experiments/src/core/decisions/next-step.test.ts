import { RunEndWhy, StopKind, StopMode, StopWhy, TrialOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  activated,
  checkpointA,
  exampleConfig,
  exampleResources,
  experimentCreated,
  paused,
  runEnded,
  runRequested,
  runStarted,
  runStopRequested,
  runStopWithdrawn,
  stopRequested,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { evolveExperiment, initialExperiment } from "../experiment/evolve.ts";
import type { ExperimentEvent } from "../experiment/state.ts";
import { initialLogSignals, type LogSignals } from "../foreign/log-signals.ts";
import type { SearchWant } from "../foreign/search.ts";
import { evolveTrial, initialTrial } from "../trial/evolve.ts";
import type { TrialEvent } from "../trial/state.ts";
import { defaultDelays } from "../../testing/small-fan-outs.ts";
import { nextStep, type Origin } from "./next-step.ts";

type Situation = {
  readonly trial: readonly TrialEvent[];
  readonly experiment?: readonly ExperimentEvent[];
  readonly search?: SearchWant | null;
  readonly origin?: Origin;
  readonly acknowledged?: boolean;
  readonly awaits?: boolean;
  readonly signals?: LogSignals;
};

const active = [experimentCreated(), activated] as const;
const nothing: Origin = { kind: "nothing" };

function next(situation: Situation) {
  const {
    trial,
    experiment = active,
    search = "run",
    origin = nothing,
    acknowledged = false,
    awaits = false,
    signals = initialLogSignals,
  } = situation;
  return nextStep({
    id: "12.1",
    trial: fold(evolveTrial, initialTrial, trial),
    experiment: fold(evolveExperiment, initialExperiment, experiment),
    search,
    origin,
    acknowledged,
    awaits,
    signals,
    delays: defaultDelays,
  });
}

const stopped = { stopped: "median: worse than most", fails: false };
const failing = { stopped: "metric_missing: no loss", fails: true };
const fresh = [trialCreated()] as const;
const queued = [trialCreated(), runRequested(1)] as const;
const running = [...queued, runStarted(1)] as const;
const after = (why: RunEndWhy, message = "") => [...running, runEnded(1, why, { message })];
const run = {
  kind: "request_run",
  experiment: "12",
  resources: exampleResources,
  workspace: "lab",
  delayMs: 0,
  owner: "",
  from: null,
} as const;
/** The next run after the first try of a row. */
const delayed = { ...run, delayMs: defaultDelays.firstMs };
const ends = (outcome: TrialOutcome) => expect.objectContaining({ kind: "end", outcome });
const stops = (why: StopWhy, graceMs: number, mode: StopMode = StopMode.GRACEFUL) => ({
  kind: "stop_run",
  stop: { mode, why, graceMs },
});

describe("the wait for the last run's checkpoints", () => {
  const failed = [...running, runEnded(1, RunEndWhy.FAILED)];

  test("puts off the next run", () => {
    expect(next({ trial: failed, awaits: true })).toBeNull();
    expect(next({ trial: failed, awaits: false })).toMatchObject({ kind: "request_run" });
  });

  test("puts off neither the end of the trial nor its stop", () => {
    const done = [...running, runEnded(1, RunEndWhy.FINISHED)];
    expect(next({ trial: done, awaits: true })).toMatchObject({ kind: "end" });
    const experiment = [...active, stopRequested()];
    expect(next({ trial: failed, experiment, awaits: true })).toMatchObject({ kind: "end" });
  });

  test("puts off the end after five lost runs, since a new checkpoint would begin a new row", () => {
    const lost = Array.from({ length: limits.lostTriesMax }, (_, n) => [
      ...[runRequested(n + 1), runEnded(n + 1, RunEndWhy.LOST)],
    ]);
    const trial = [trialCreated(), ...lost.flat()];
    expect(next({ trial, awaits: true })).toBeNull();
    expect(next({ trial, awaits: false })).toEqual(ends(TrialOutcome.FAILED));
  });
});

describe("a trial without an unended run", () => {
  test("gets its first run if the search wants it", () => {
    expect(next({ trial: fresh })).toEqual(run);
  });

  test("starts from its latest checkpoint", () => {
    const origin: Origin = { kind: "checkpoint", checkpoint: checkpointA, step: 100 };
    expect(next({ trial: after(RunEndWhy.FAILED), origin })).toEqual({
      ...delayed,
      from: { checkpoint: checkpointA, step: 100 },
    });
  });

  test.each(["gone", "damaged"] as const)(
    "fails if the checkpoint that it must start from is %s, and says so",
    (why) => {
      const origin: Origin = { kind: "gone", checkpoint: checkpointA, why };
      const step = next({ trial: fresh, origin });
      expect(step).toMatchObject({ kind: "end", outcome: TrialOutcome.FAILED });
      expect(step?.kind === "end" && step.reason).toContain(`has to start from is ${why}`);
    },
  );

  test("names its latest checkpoint if it does not start from it because it is damaged", () => {
    const origin: Origin = { kind: "nothing", damaged: checkpointA };
    expect(next({ trial: fresh, origin })).toEqual({ ...run, damaged: checkpointA });
  });

  test("gets no run while the experiment is paused or the search has suspended it", () => {
    expect(next({ trial: fresh, experiment: [experimentCreated()] })).toBeNull();
    expect(next({ trial: fresh, experiment: [...active, paused] })).toBeNull();
    expect(next({ trial: fresh, search: "suspended" })).toBeNull();
  });

  test.each([
    RunEndWhy.ACKNOWLEDGED_STOP,
    RunEndWhy.LOST,
    RunEndWhy.KILLED,
    RunEndWhy.WITHDRAWN,
    RunEndWhy.FAILED,
  ])("gets the next run after one that did not finish (%i)", (why) => {
    const isTry = why === RunEndWhy.LOST || why === RunEndWhy.FAILED;
    expect(next({ trial: after(why) })).toEqual(isTry ? delayed : run);
  });

  test("completes after a finished run, whatever state the search wants", () => {
    for (const search of ["run", "suspended", stopped] as const) {
      expect(next({ trial: after(RunEndWhy.FINISHED), search })).toEqual(
        ends(TrialOutcome.COMPLETED),
      );
    }
    const experiment = [...active, stopRequested(StopKind.KILL)];
    expect(next({ trial: after(RunEndWhy.FINISHED), experiment })).toEqual(
      ends(TrialOutcome.COMPLETED),
    );
  });

  test("ends as stopped early if the search stopped it, also after a failure", () => {
    expect(next({ trial: fresh, search: stopped })).toEqual(ends(TrialOutcome.STOPPED_EARLY));
    expect(next({ trial: after(RunEndWhy.FAILED), search: stopped })).toEqual(
      ends(TrialOutcome.STOPPED_EARLY),
    );
  });

  test("ends with the search's reason if the search stopped it", () => {
    expect(next({ trial: fresh, search: stopped })).toMatchObject({ reason: stopped.stopped });
  });

  test("fails if the search fails it, whatever its run achieved, unless the experiment stops", () => {
    for (const why of [RunEndWhy.FINISHED, RunEndWhy.ACKNOWLEDGED_STOP, RunEndWhy.FAILED]) {
      expect(next({ trial: after(why), search: failing })).toMatchObject({
        outcome: TrialOutcome.FAILED,
        reason: failing.stopped,
      });
    }
    const experiment = [...active, stopRequested()];
    expect(next({ trial: fresh, experiment, search: failing })).toEqual(
      ends(TrialOutcome.CANCELED),
    );
  });

  test("is canceled if its experiment stops", () => {
    const experiment = [...active, stopRequested()];
    expect(next({ trial: fresh, experiment, search: stopped })).toEqual(
      ends(TrialOutcome.CANCELED),
    );
    expect(next({ trial: after(RunEndWhy.FAILED), experiment })).toEqual(
      ends(TrialOutcome.CANCELED),
    );
  });

  test("fails with the script's reason if its hyperparameters are invalid", () => {
    const trial = after(RunEndWhy.INVALID_HYPERPARAMETERS, "batch too large");
    expect(next({ trial })).toEqual({
      kind: "end",
      outcome: TrialOutcome.INVALID_HYPERPARAMETERS,
      reason: "batch too large",
    });
  });

  test("fails with the last message when its restarts are used up, also while it is paused", () => {
    const twice = [
      ...after(RunEndWhy.FAILED),
      runRequested(2),
      runEnded(2, RunEndWhy.FAILED),
      runRequested(3),
      runEnded(3, RunEndWhy.FAILED, { message: "boom" }),
    ];
    const failed = {
      kind: "end",
      outcome: TrialOutcome.FAILED,
      reason: "run 3: boom (after 2 restarts)",
    };
    expect(next({ trial: twice })).toEqual(failed);
    expect(next({ trial: twice, experiment: [...active, paused] })).toEqual(failed);
    expect(next({ trial: twice.slice(0, -2) })).toEqual(delayed);
  });

  test("has one run if max_restarts is 0", () => {
    const experiment = [experimentCreated({ max_restarts: 0 }), activated];
    expect(next({ trial: after(RunEndWhy.FAILED), experiment })).toEqual(ends(TrialOutcome.FAILED));
  });
});

describe("a trial with an unended run", () => {
  test("has no next step while the run is wanted", () => {
    expect(next({ trial: queued })).toBeNull();
    expect(next({ trial: running })).toBeNull();
  });

  test("has its stop withdrawn when the trial is wanted again, unless the run has acknowledged it", () => {
    for (const why of [StopWhy.PAUSE, StopWhy.SEARCH_SUSPEND]) {
      const trial = [...running, runStopRequested(1, why)];
      expect(next({ trial })).toEqual({ kind: "withdraw_stop" });
      expect(next({ trial, acknowledged: true })).toBeNull();
      expect(next({ trial: [...trial, runStopWithdrawn(1)] })).toBeNull();
    }
  });

  test("keeps its stop while any reason for it is left", () => {
    const trial = [...running, runStopRequested(1, StopWhy.SEARCH_SUSPEND)];
    const step = next({ trial, experiment: [...active, paused], search: "run" });
    expect(step).toEqual(stops(StopWhy.PAUSE, limits.preemptionGraceMs));
  });

  test("keeps a kill", () => {
    expect(next({ trial: [...running, runStopRequested(1, StopWhy.KILL)] })).toBeNull();
  });

  test.each([
    [20, 20_000],
    [0, 1],
  ])("gets its preemption timeout of %i s as the grace of a pause", (seconds, graceMs) => {
    const created = experimentCreated({ preemption_timeout: seconds });
    const experiment = [created, activated, paused];
    expect(next({ trial: running, experiment })).toEqual(stops(StopWhy.PAUSE, graceMs));
    expect(next({ trial: running, experiment: [created, activated], search: "suspended" })).toEqual(
      stops(StopWhy.SEARCH_SUSPEND, graceMs),
    );
  });

  test.each([
    ["pause", [...active, paused], "run", stops(StopWhy.PAUSE, limits.preemptionGraceMs)],
    ["suspension", active, "suspended", stops(StopWhy.SEARCH_SUSPEND, limits.preemptionGraceMs)],
    ["search stop", active, stopped, stops(StopWhy.SEARCH_STOP, limits.searchStopGraceMs)],
    ["cancel", [...active, stopRequested()], "run", stops(StopWhy.CANCEL, limits.cancelGraceMs)],
    [
      "kill",
      [...active, stopRequested(StopKind.KILL)],
      "run",
      stops(StopWhy.KILL, 0, StopMode.KILL),
    ],
  ] as const)("stops the run on a %s", (_, experiment, search, expected) => {
    expect(next({ trial: running, experiment, search })).toEqual(expected);
  });

  test("stops the run for the most severe of several reasons", () => {
    const experiment = [...active, paused, stopRequested(StopKind.KILL)];
    expect(next({ trial: running, experiment, search: stopped })).toEqual(
      stops(StopWhy.KILL, 0, StopMode.KILL),
    );
  });
});

test("a trial that does not exist or has ended has no next step", () => {
  expect(next({ trial: [] })).toBeNull();
  expect(next({ trial: [...fresh, trialEnded(TrialOutcome.CANCELED, "canceled")] })).toBeNull();
});

describe("a log policy that matched", () => {
  const failed = [...running, runEnded(1, RunEndWhy.FAILED, { message: "out of memory" })];
  const finalFrom = (run: number): LogSignals => ({
    ...initialLogSignals,
    finals: [{ run, policy: "CUDA OOM" }],
  });
  const ended = {
    kind: "end",
    outcome: TrialOutcome.FAILED,
    reason: 'run 1: out of memory (not repeated: log policy "CUDA OOM")',
  };

  test("with cancel_retries makes the failure of its run final", () => {
    expect(next({ trial: failed, signals: finalFrom(1) })).toEqual(ended);
    expect(next({ trial: failed })).toMatchObject({ kind: "request_run" });
  });

  test("with cancel_retries stops no run that has not failed", () => {
    expect(next({ trial: running, signals: finalFrom(1) })).toBeNull();
    const preempted = after(RunEndWhy.ACKNOWLEDGED_STOP);
    expect(next({ trial: preempted, signals: finalFrom(1) })).toMatchObject({
      kind: "request_run",
    });
    expect(next({ trial: after(RunEndWhy.FINISHED), signals: finalFrom(1) })).toEqual(
      ends(TrialOutcome.COMPLETED),
    );
  });

  test("with cancel_retries stops a retry that has begun, and the trial then fails", () => {
    const retried = [...failed, runRequested(2), runStarted(2)];
    expect(next({ trial: retried, signals: finalFrom(1) })).toEqual(
      stops(StopWhy.CANCEL, limits.cancelGraceMs),
    );
    expect(next({ trial: retried, signals: finalFrom(2) })).toBeNull();
    const stoppedRetry = [...retried, runEnded(2, RunEndWhy.ACKNOWLEDGED_STOP)];
    expect(next({ trial: stoppedRetry, signals: finalFrom(1) })).toEqual(ended);
  });

  test("with cancel_retries makes the failures of later runs final too", () => {
    const later = [
      ...after(RunEndWhy.ACKNOWLEDGED_STOP),
      runRequested(2),
      runStarted(2),
      runEnded(2, RunEndWhy.FAILED, { message: "again" }),
    ];
    expect(next({ trial: later, signals: finalFrom(1) })).toMatchObject({
      outcome: TrialOutcome.FAILED,
      reason: expect.stringContaining("run 2: again") as string,
    });
  });

  test("with exclude_node excludes its agent from the trial's next runs, beside the agents that the configuration excludes", () => {
    const signals = { ...initialLogSignals, excluded: ["gpu-7"] };
    expect(next({ trial: failed, signals })).toMatchObject({
      resources: { constraints: { excludedAgents: ["gpu-7"] } },
    });
    const constraints = { exclude_agents: ["gpu-1"] };
    const config = { ...exampleConfig, resources: { ...exampleConfig.resources, constraints } };
    const experiment = [experimentCreated(config), activated];
    expect(next({ trial: failed, experiment, signals })).toMatchObject({
      resources: { constraints: { excludedAgents: ["gpu-1", "gpu-7"] } },
    });
    expect(next({ trial: failed })).not.toHaveProperty("resources.constraints");
  });
});
