import {
  Fault,
  RunEndWhy,
  StopKind,
  StopMode,
  StopWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { fold, isRejection } from "@trainyard/kernel";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  activated,
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
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { defaultDelays } from "../testing/small-fan-outs.ts";
import type { ExperimentCommand } from "./experiment/commands.ts";
import { experimentDecider } from "./experiment/decide.ts";
import type { SearchWant } from "./foreign/search.ts";
import { initialLogSignals, type LogSignals } from "./foreign/log-signals.ts";
import { nextStep } from "./decisions/next-step.ts";
import type { TrialCommand } from "./trial/commands.ts";
import { trialDecider } from "./trial/decide.ts";
import type { TrialEvent, TrialState } from "./trial/state.ts";
import { isHarsher } from "./trial/stops.ts";

const whys = [
  StopWhy.PAUSE,
  StopWhy.SEARCH_SUSPEND,
  StopWhy.SEARCH_STOP,
  StopWhy.CANCEL,
  StopWhy.KILL,
];
const ends = [1, 2, 3, 4, 5, 6, 7] as readonly RunEndWhy[];
const run = fc.integer({ min: 1, max: 4 });
const step = fc.integer({ min: 0, max: 500 });
const atMs = fc.integer({ min: 0, max: 2 * limits.trainedMs });

const stop = fc.record({
  mode: fc.constantFrom<StopMode>(StopMode.GRACEFUL, StopMode.KILL),
  why: fc.constantFrom(...whys),
  graceMs: fc.integer({ min: 0, max: 10_000 }),
});

const trialCommand: fc.Arbitrary<TrialCommand> = fc.oneof(
  fc.constant({ kind: "create", created: trialCreated().data } as const),
  fc.record({
    kind: fc.constant("request_run" as const),
    experiment: fc.constant("12"),
    resources: fc.constant(exampleResources),
    workspace: fc.constantFrom("", "lab"),
    owner: fc.constantFrom("", "ada"),
    from: fc.option(fc.record({ checkpoint: fc.constantFrom("a", "b"), step })),
    delayMs: fc.integer({ min: 0 }),
  }),
  fc.record({ kind: fc.constant("start_run" as const), run, allocation: fc.constant(""), atMs }),
  fc.record({ kind: fc.constant("stop_run" as const), stop }),
  fc.constant({ kind: "withdraw_stop" } as const),
  fc.record({
    kind: fc.constant("end_run" as const),
    run,
    why: fc.constantFrom(...ends),
    exits: fc.constant([]),
    message: fc.string(),
    timeLimited: fc.boolean(),
    atMs,
    agents: fc.constant(["a1"]),
  }),
  fc.record({
    kind: fc.constant("note_checkpoint" as const),
    noted: fc.record({ checkpoint: fc.constantFrom("a", "b", "c"), run, step }),
  }),
  fc.record({
    kind: fc.constant("end" as const),
    outcome: fc.constant<TrialOutcome>(TrialOutcome.CANCELED),
    reason: fc.constant(""),
  }),
);

const trialEvent: fc.Arbitrary<TrialEvent> = fc.oneof(
  fc.constant(trialCreated()),
  run.map((n) => runRequested(n)),
  run.map((n) => runStarted(n)),
  fc.tuple(run, fc.constantFrom(...whys)).map(([n, why]) => runStopRequested(n, why)),
  run.map((n) => runStopWithdrawn(n)),
  fc.tuple(run, fc.constantFrom(...ends)).map(([n, why]) => runEnded(n, why)),
  fc.tuple(run, step).map(([n, at]) => trialCheckpointed(`c${at}`, n, at)),
  fc.constant(trialEnded(TrialOutcome.COMPLETED, "")),
);

type History = { readonly events: readonly TrialEvent[]; readonly state: TrialState };

/** Returns the events of a decider after commands in any order. */
function decideAll(commands: readonly TrialCommand[]): History {
  let state = trialDecider.initial;
  const events: TrialEvent[] = [];
  for (const command of commands) {
    const decided = trialDecider.decide(state, command);
    if (isRejection(decided)) continue;
    events.push(...decided);
    state = fold(trialDecider.evolve, state, decided);
  }
  return { events, state };
}

describe("a trial, after any sequence of commands", () => {
  test("never has two unended runs, and numbers them without gaps", () => {
    fc.assert(
      fc.property(fc.array(trialCommand, { maxLength: 60 }), (commands) => {
        let unended = 0;
        let runs = 0;
        for (const event of decideAll(commands).events) {
          if (event.type === "RunRequested") {
            runs += 1;
            unended += 1;
            expect(event.data.run).toBe(runs);
          }
          if (event.type === "RunEnded") unended -= 1;
          expect(unended).toBeGreaterThanOrEqual(0);
          expect(unended).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test("has events only of its newest run, and none of a run once it has ended", () => {
    fc.assert(
      fc.property(fc.array(trialCommand, { maxLength: 60 }), (commands) => {
        let runs = 0;
        let ended = false;
        for (const event of decideAll(commands).events) {
          expect(ended).toBe(false);
          if (event.type === "RunRequested") runs = event.data.run;
          else if ("run" in event.data) expect(event.data.run).toBe(runs);
          ended = event.type === "TrialEnded";
        }
      }),
    );
  });

  test("only makes the stop of a run more severe, and never grants it more time, until it is withdrawn", () => {
    fc.assert(
      fc.property(fc.array(trialCommand, { maxLength: 60 }), (commands) => {
        let before: TrialEvent | null = null;
        for (const event of decideAll(commands).events) {
          if (event.type === "RunStopWithdrawn") {
            expect(before?.type === "RunStopRequested" && before.data.mode).toBe(StopMode.GRACEFUL);
          }
          if (event.type === "RunRequested" || event.type === "RunStopWithdrawn") before = null;
          if (event.type !== "RunStopRequested") continue;
          if (before?.type === "RunStopRequested") {
            expect(isHarsher(event.data, before.data)).toBe(true);
            expect(event.data.graceMs).toBeLessThanOrEqual(before.data.graceMs);
          }
          before = event;
        }
      }),
    );
  });

  test("records nothing for a repeated command", () => {
    fc.assert(
      fc.property(fc.array(trialCommand, { maxLength: 40 }), trialCommand, (commands, command) => {
        const { state } = decideAll([...commands, command]);
        const again = trialDecider.decide(state, command);
        // A request during an unended run is refused, not ignored, because the rule never makes one.
        expect(isRejection(again) || again.length === 0).toBe(true);
      }),
    );
  });

  test("folds any events in any order", () => {
    fc.assert(
      fc.property(fc.array(trialEvent), (events) => {
        expect(() => fold(trialDecider.evolve, trialDecider.initial, events)).not.toThrow();
      }),
    );
  });
});

const experimentCommand: fc.Arbitrary<ExperimentCommand> = fc.oneof(
  fc.constant({ kind: "create", created: experimentCreated().data, paused: true } as const),
  fc.constant({ kind: "activate" } as const),
  fc.constant({ kind: "pause" } as const),
  fc.record({
    kind: fc.constant("stop" as const),
    stop: fc.constantFrom<StopKind>(StopKind.CANCEL, StopKind.KILL),
    reason: fc.string(),
  }),
);

describe("an experiment, after any sequence of commands", () => {
  test("records nothing for a repeated command", () => {
    const decideOn = (commands: readonly ExperimentCommand[]) =>
      commands.reduce((state, command) => {
        const decided = experimentDecider.decide(state, command);
        return isRejection(decided) ? state : fold(experimentDecider.evolve, state, decided);
      }, experimentDecider.initial);
    fc.assert(
      fc.property(fc.array(experimentCommand), experimentCommand, (commands, command) => {
        const again = experimentDecider.decide(decideOn([...commands, command]), command);
        expect(isRejection(again) || again.length === 0).toBe(true);
      }),
    );
  });
});

describe("the next step of a trial", () => {
  const signalsOfLogs: readonly LogSignals[] = [
    initialLogSignals,
    { finals: [{ run: 1, policy: "CUDA OOM" }], excluded: ["gpu-7"] },
    { finals: [{ run: 2, policy: "CUDA OOM" }], excluded: [] },
  ];
  const experiments = [
    [experimentCreated()],
    [experimentCreated(), activated],
    [experimentCreated(), activated, paused],
    [experimentCreated(), activated, stopRequested(StopKind.CANCEL)],
    [experimentCreated(), paused, stopRequested(StopKind.KILL)],
  ].map((events) => fold(experimentDecider.evolve, experimentDecider.initial, events));
  const want = fc.option(
    fc.constantFrom<SearchWant>(
      "run",
      "suspended",
      { stopped: "median", fails: false },
      { stopped: "metric_missing", fails: true },
    ),
  );

  test("is accepted by the trial, and after it nothing is left to do", () => {
    fc.assert(
      fc.property(
        fc.array(trialCommand, { maxLength: 40 }),
        fc.constantFrom(...experiments),
        want,
        fc.constantFrom(...signalsOfLogs),
        fc.boolean(),
        (commands, experiment, search, signals, acknowledged) => {
          const { state } = decideAll(commands);
          const origin = { kind: "nothing" } as const;
          const reads = { experiment, search, origin, acknowledged, awaits: false, signals };
          const asked = { id: "12.1", ...reads, delays: defaultDelays } as const;
          const step = nextStep({ ...asked, trial: state });
          if (step === null) return;
          const decided = trialDecider.decide(state, step);
          expect(isRejection(decided)).toBe(false);
          if (isRejection(decided)) return;
          const after = fold(trialDecider.evolve, state, decided);
          const more = nextStep({ ...asked, trial: after });
          if (more !== null) expect(trialDecider.decide(after, more)).toEqual([]);
        },
      ),
    );
  });
});

describe("a trial whose runs fail", () => {
  const maxRestarts = 3;
  const experiment = fold(experimentDecider.evolve, experimentDecider.initial, [
    experimentCreated({ ...exampleConfig, max_restarts: maxRestarts }),
    activated,
  ]);
  const reads = { origin: { kind: "nothing" }, acknowledged: false, awaits: false } as const;
  const asked = { id: "12.1", experiment, search: null, signals: initialLogSignals, ...reads };
  type Failure = { readonly fault: Fault; readonly trainedMs: number; readonly advances: boolean };
  const failure = (advances: fc.Arbitrary<boolean>): fc.Arbitrary<Failure> =>
    fc.record({
      fault: fc.constantFrom<Fault>(Fault.SCRIPT, Fault.HOST, Fault.PLATFORM),
      trainedMs: fc.constantFrom(0, limits.trainedMs - 1, limits.trainedMs),
      advances,
    });

  /** Returns the delay before each run; the trial has ended if there are fewer runs than failures. */
  function delaysOf(failures: readonly Failure[]): readonly number[] {
    let state = fold(trialDecider.evolve, trialDecider.initial, [trialCreated()]);
    const delays: number[] = [];
    for (const { fault, trainedMs, advances } of failures) {
      const step = nextStep({ ...asked, trial: state, delays: defaultDelays });
      if (step?.kind !== "request_run") return delays;
      const run = delays.push(step.delayMs);
      const why = fault === Fault.SCRIPT ? RunEndWhy.FAILED : RunEndWhy.LOST;
      const events = [
        ...[runRequested(run), runStarted(run)],
        ...(advances ? [trialCheckpointed(`c${run}`, run, run)] : []),
      ];
      state = fold(trialDecider.evolve, state, events);
      const rest = { exits: [], message: "", agents: [], atMs: trainedMs };
      const decided = trialDecider.decide(state, { kind: "end_run", run, why, fault, ...rest });
      if (!isRejection(decided)) state = fold(trialDecider.evolve, state, decided);
    }
    return delays;
  }

  test("without a checkpoint has a limited number of runs, whatever made them fail", () => {
    const most = maxRestarts + limits.lostTriesMax;
    const failures = fc.array(failure(fc.constant(false)), { minLength: most + 1, maxLength: 40 });
    fc.assert(
      fc.property(failures, (all) => {
        expect(delaysOf(all).length).toBeLessThanOrEqual(most);
      }),
    );
  });

  test("waits before each run for twice the time in a row, which new checkpoints and long training reset", () => {
    fc.assert(
      fc.property(fc.array(failure(fc.boolean()), { maxLength: 40 }), (failures) => {
        let row = 0;
        for (const [n, delayMs] of delaysOf(failures).slice(1).entries()) {
          const { fault, trainedMs, advances } = failures[n] as Failure;
          row = advances || trainedMs >= limits.trainedMs ? 1 : row + 1;
          const factor = fault === Fault.PLATFORM ? limits.platformDelayFactor : 1;
          const doubled = defaultDelays.firstMs * factor * 2 ** (row - 1);
          expect(delayMs).toBe(Math.min(doubled, defaultDelays.lastMs));
        }
      }),
    );
  });

  test("is never given up because of hosts and platform while its runs make new checkpoints", () => {
    const ofHosts = failure(fc.constant(true)).filter(({ fault }) => fault !== Fault.SCRIPT);
    fc.assert(
      fc.property(fc.array(ofHosts, { maxLength: 40 }), (failures) => {
        expect(delaysOf(failures)).toHaveLength(failures.length);
      }),
    );
  });
});
