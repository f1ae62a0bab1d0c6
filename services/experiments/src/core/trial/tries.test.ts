import { Fault, RunEndWhy } from "@trainyard/contracts/events";
import { fold, isRejection } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  runRequested,
  runStarted,
  trialCheckpointed,
  trialCreated,
} from "../../testing/examples.ts";
import type { EndRun } from "./commands.ts";
import { trialDecider } from "./decide.ts";
import type { TrialState } from "./state.ts";
import { noTries, tryDelayMs } from "./tries.ts";

type Try = Partial<EndRun> & {
  readonly why: RunEndWhy;
  readonly trainedMs?: number;
  /** The step of a checkpoint that the run makes. */
  readonly step?: number;
};

const lost = { why: RunEndWhy.LOST, fault: Fault.HOST } as const;
const failed = { why: RunEndWhy.FAILED, fault: Fault.SCRIPT } as const;
const stopped = { why: RunEndWhy.ACKNOWLEDGED_STOP } as const;
const away = {
  why: RunEndWhy.LOST,
  fault: Fault.PLATFORM,
  launchFailure: { agents: ["a"], silent: ["a"], platformAway: true },
} as const;

/** Returns the trial after runs that ended one after the other. */
function after(...tries: readonly Try[]): TrialState {
  let state = fold(trialDecider.evolve, trialDecider.initial, [trialCreated()]);
  for (const { trainedMs = 0, step, ...end } of tries) {
    const run = state.runs + 1;
    const began = [runRequested(run), runStarted(run)];
    const made = step === undefined ? [] : [trialCheckpointed(`c${step}`, run, step)];
    state = fold(trialDecider.evolve, state, [...began, ...made]);
    const nothing = { exits: [], message: "", agents: [] };
    const command: EndRun = { kind: "end_run", run, ...nothing, ...end, atMs: trainedMs };
    const decided = trialDecider.decide(state, command);
    if (isRejection(decided)) throw new Error(decided.detail);
    state = fold(trialDecider.evolve, state, decided);
  }
  return state;
}

const times = (count: number, one: Try) => Array.from({ length: count }, () => one);

test("a run counts as a try whatever made it fail, but not after a success or a stop", () => {
  expect(after(failed, lost, away).tries.row).toBe(3);
  expect(after(stopped, { why: RunEndWhy.KILLED }, { why: RunEndWhy.FINISHED }).tries).toEqual(
    noTries,
  );
  expect(after(lost, stopped).tries).toEqual(after(lost).tries);
});

test("failures of the script count against max_restarts, and those of hosts and platform do not", () => {
  const next = (...tries: readonly Try[]) =>
    fold(trialDecider.evolve, after(...tries), [runRequested(tries.length + 1)]).tries.restarts;
  expect(next(failed, failed)).toBe(2);
  expect(next(lost, away, stopped)).toBe(0);
  expect(next({ ...failed, fault: Fault.HOST }, { ...failed, fault: Fault.PLATFORM })).toBe(0);
});

test("failures of hosts and platform are counted until a new checkpoint, except launches that wait for the platform", () => {
  expect(after(lost, failed, stopped, lost, away).tries.lost).toBe(2);
  expect(after(lost, lost, { ...lost, step: 1 }).tries.lost).toBe(0);
  const left = { sealed: [{ checkpoint: "c", step: 1, bytes: 1 }], atMs: 0 };
  const sealed = after(lost, lost, { ...lost, left });
  expect(sealed.tries).toMatchObject({ lost: 3, row: 3 });
  const completed = fold(trialDecider.evolve, sealed, [trialCheckpointed("c", 3, 1)]);
  expect(completed.tries).toMatchObject({ lost: 0, row: 0 });
  expect(after(lost, { ...lost, trainedMs: limits.trainedMs }).tries.lost).toBe(2);
});

test("a new checkpoint or ten minutes of training begins a new row of tries", () => {
  expect(after(failed, failed, { ...failed, step: 1 }).tries.row).toBe(1);
  expect(after(failed, failed, { ...failed, trainedMs: limits.trainedMs - 1 }).tries.row).toBe(3);
  expect(after(failed, failed, { ...failed, trainedMs: limits.trainedMs }).tries.row).toBe(1);
  const late = fold(trialDecider.evolve, after(lost, lost), [trialCheckpointed("c1", 2, 1)]);
  expect(late.tries).toEqual({ ...noTries, step: 1, advanced: 2 });
});

test("a checkpoint is new only above every step that the trial has had", () => {
  const again = (step: number) => times(limits.lostTriesMax, { ...lost, step });
  expect(after(...again(0)).tries).toMatchObject({ lost: limits.lostTriesMax, row: 5 });
  expect(after({ ...stopped, step: 7 }, ...again(7)).tries.lost).toBe(limits.lostTriesMax);
  expect(after({ ...stopped, step: 7 }, ...again(6)).tries.lost).toBe(limits.lostTriesMax);
  expect(after({ ...stopped, step: 7 }, lost, { ...lost, step: 8 }).tries.lost).toBe(0);
  const forked = fold(trialDecider.evolve, trialDecider.initial, [
    trialCreated(1, "w"),
    runRequested(1, { fromCheckpoint: "w", fromStep: 100 }),
    trialCheckpointed("c1", 1, 100),
  ]);
  expect(forked.tries).toEqual({ ...noTries, step: 100 });
});

test("failed runs that hosts or platform are blamed for are excused five times in the life of a trial", () => {
  const blamed = [Fault.HOST, Fault.PLATFORM] as const;
  const next = (count: number, last: Try) => {
    const tries = Array.from({ length: count }, (_, n) => {
      return { ...failed, fault: blamed[n % 2] ?? Fault.HOST, step: n + 1 };
    });
    const state = after(...tries, last);
    return fold(trialDecider.evolve, state, [runRequested(count + 2)]).tries.restarts;
  };
  const blamedOnHost = { ...failed, fault: Fault.HOST };
  expect(next(limits.excusedMax - 1, blamedOnHost)).toBe(0);
  expect(next(limits.excusedMax, blamedOnHost)).toBe(1);
  expect(next(limits.excusedMax + 2, blamedOnHost)).toBe(3);
  expect(next(limits.excusedMax, lost)).toBe(0);
});

test("the delay doubles with the tries in a row, and is longer after failures of the platform", () => {
  const delays = { firstMs: 1_000, lastMs: 300_000 };
  const inRow = (row: number, fault: Fault) => tryDelayMs({ ...noTries, row }, fault, delays);
  expect([0, 1, 2, 3, 9, 10, 2_000].map((row) => inRow(row, Fault.SCRIPT))).toEqual([
    1_000, 1_000, 2_000, 4_000, 256_000, 300_000, 300_000,
  ]);
  const none = { firstMs: 0, lastMs: 300_000 };
  expect(tryDelayMs({ ...noTries, row: 2_000 }, Fault.PLATFORM, none)).toBe(0);
  expect([1, 2, 3, 4, 5].map((row) => inRow(row, Fault.PLATFORM))).toEqual([
    30_000, 60_000, 120_000, 240_000, 300_000,
  ]);
});

test("the next run avoids the agents of the row, at most so many", () => {
  const on = (...agents: readonly string[]): Try => ({ ...failed, agents });
  const avoided = (...tries: readonly Try[]) => {
    const decided = trialDecider.decide(after(...tries), {
      ...{ kind: "request_run", experiment: "12", workspace: "", owner: "", from: null },
      ...{ delayMs: 0, resources: runRequested().data.resources as never },
    });
    const [event] = isRejection(decided) ? [] : decided;
    return event?.type === "RunRequested" ? event.data.avoided?.agents : null;
  };
  expect(avoided(stopped)).toBeUndefined();
  expect(avoided(on("a"), on("b", "a"))).toEqual(["a", "b"]);
  expect(avoided(on("a"), { ...on("b"), step: 1 })).toEqual(["b"]);
  const many = Array.from({ length: limits.avoidedAgentsMax + 1 }, (_, n) => on(`a${n}`));
  expect(avoided(...many)).toHaveLength(limits.avoidedAgentsMax);
});

test("a continuation by a person begins the tries from zero", () => {
  const continued = { type: "TrialContinued", data: { continuation: 1 } } as const;
  expect(trialDecider.evolve(after(...times(4, lost)), continued).tries).toEqual(noTries);
});
