/** Tests of the checkpoints that a run has left at its end: they are named, waited for, and counted when complete. */
import { Fault, RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  checkpointA,
  checkpointB,
  runCheckpointsNamed,
  runEnded,
  runRequested,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";
import { evolveTrial, initialTrial } from "./evolve.ts";
import type { TrialEvent } from "./state.ts";

const running = [trialCreated(), runRequested(1)] as const;
const sealed = (checkpoint: string, bytes = 0) => ({ checkpoint, step: 100, bytes });
const left = (...checkpoints: readonly string[]) => ({
  sealed: checkpoints.map((one) => sealed(one)),
  atMs: 1_000,
});
const until = { awaitedUntilMs: 1_000 + limits.checkpointsWaitMs };
const endLeaving = (...checkpoints: readonly string[]) =>
  runEnded(1, RunEndWhy.FAILED, {
    sealed: { checkpoints: checkpoints.map((one) => sealed(one)) },
    ...until,
  });
const state = (...events: readonly TrialEvent[]) => fold(evolveTrial, initialTrial, events);
const failure = { why: RunEndWhy.FAILED, fault: Fault.SCRIPT, message: "" };
const endRun = {
  kind: "end_run",
  run: 1,
  ...failure,
  ...{ exits: [], agents: [], atMs: 0 },
} as const;

describe("the end of a run", () => {
  test("names the checkpoints that it has left, and until when the next run waits for them", () => {
    given(trialDecider, ...running)
      .when({ ...endRun, left: left(checkpointA, checkpointB) })
      .then(endLeaving(checkpointA, checkpointB));
  });

  test("extends the wait by the bytes that are left, up to a limit", () => {
    const waits = (bytes: number) => {
      const command = { ...endRun, left: { sealed: [sealed(checkpointA, bytes)], atMs: 0 } };
      const decided = trialDecider.decide(state(...running), command);
      const [event] = Array.isArray(decided) ? (decided as readonly TrialEvent[]) : [];
      return event?.type === "RunEnded" ? event.data.awaitedUntilMs : null;
    };
    expect(waits(60_000 * limits.checkpointBytesPerMs)).toBe(limits.checkpointsWaitMs + 60_000);
    expect(waits(Number.MAX_VALUE)).toBe(limits.checkpointsWaitLastMs);
    expect(waits(Number.POSITIVE_INFINITY)).toBe(limits.checkpointsWaitLastMs);
    for (const none of [Number.NaN, -1, Number.NEGATIVE_INFINITY]) {
      expect(waits(none)).toBe(limits.checkpointsWaitMs);
    }
  });

  test("names no checkpoint if its agent reports none", () => {
    given(trialDecider, ...running)
      .when(endRun)
      .then(runEnded(1, RunEndWhy.FAILED));
    expect(state(...running, runEnded(1, RunEndWhy.FAILED))).toMatchObject({
      named: [],
      awaitedUntilMs: 0,
    });
  });

  test("waits for no checkpoint that was complete before", () => {
    const { named } = state(...running, trialCheckpointed(), endLeaving(checkpointA, checkpointB));
    expect(named).toEqual([checkpointB]);
  });
});

describe("a checkpoint that a run has left", () => {
  const finished = trialEnded(TrialOutcome.COMPLETED, "finished");
  const note = {
    kind: "note_checkpoint",
    noted: { checkpoint: checkpointA, run: 1, step: 100 },
  } as const;

  test("counts once when it is complete, also after the trial's end", () => {
    given(trialDecider, ...running, endLeaving(checkpointA), finished)
      .when(note)
      .then(trialCheckpointed());
    given(trialDecider, ...running, endLeaving(checkpointA), finished, trialCheckpointed())
      .when(note)
      .thenNothing();
  });

  test("does not count after the trial's end unless it was named", () => {
    given(trialDecider, ...running, endLeaving(checkpointB), finished)
      .when(note)
      .thenNothing();
  });

  test("is forgotten when the next run is requested", () => {
    expect(state(...running, endLeaving(checkpointA), runRequested(2))).toMatchObject({
      named: [],
      awaitedUntilMs: 0,
    });
    given(trialDecider, ...running, endLeaving(checkpointA), runRequested(2))
      .when(note)
      .thenNothing();
  });
});

describe("the progress of an upload", () => {
  const later = until.awaitedUntilMs + 1_000;
  const moved = (checkpoint: string, atMs = 2_000 + limits.checkpointsWaitMs) =>
    ({ kind: "await_upload", run: 1, checkpoint, atMs }) as const;
  const longer = runCheckpointsNamed(1, [], 2_000 + 2 * limits.checkpointsWaitMs);

  test("extends the wait for a named checkpoint, and for no other", () => {
    given(trialDecider, ...running, endLeaving(checkpointA))
      .when(moved(checkpointA))
      .then(longer);
    given(trialDecider, ...running, endLeaving(checkpointA))
      .when(moved(checkpointB))
      .thenNothing();
    expect(state(...running, endLeaving(checkpointA), longer)).toMatchObject({
      named: [checkpointA],
      awaitedUntilMs: 2_000 + 2 * limits.checkpointsWaitMs,
    });
    expect(longer.data.awaitedUntilMs).toBeGreaterThan(later);
  });

  test("shortens no wait, and changes nothing during a run or after the trial's end", () => {
    given(trialDecider, ...running, endLeaving(checkpointA), longer)
      .when(moved(checkpointA, 1_000))
      .thenNothing();
    given(trialDecider, ...running)
      .when(moved(checkpointA))
      .thenNothing();
    const finished = trialEnded(TrialOutcome.COMPLETED, "finished");
    given(trialDecider, ...running, endLeaving(checkpointA), finished)
      .when(moved(checkpointA))
      .thenNothing();
    given(trialDecider, ...running, endLeaving(checkpointA), runRequested(2))
      .when(moved(checkpointA))
      .thenNothing();
  });
});

describe("an agent that reconnects", () => {
  const name = (run: number, ...checkpoints: readonly string[]) =>
    ({ kind: "name_checkpoints", run, left: left(...checkpoints) }) as const;
  const lost = runEnded(1, RunEndWhy.LOST);

  test("names the new checkpoints of the newest run, also after the trial's end", () => {
    const named = runCheckpointsNamed(1, [sealed(checkpointA)], until.awaitedUntilMs);
    given(trialDecider, ...running, lost)
      .when(name(1, checkpointA))
      .then(named);
    // The checkpoints of an ended trial are not waited for.
    given(trialDecider, ...running, lost, trialEnded(TrialOutcome.CANCELED, ""))
      .when(name(1, checkpointA))
      .then(runCheckpointsNamed(1, [sealed(checkpointA)], 0));
    given(trialDecider, ...running, endLeaving(checkpointB))
      .when(name(1, checkpointB, checkpointA))
      .then(named);
    given(trialDecider, ...running, lost, named)
      .when(name(1, checkpointA))
      .thenNothing();
  });

  test("names no checkpoint of a run that a later run has followed", () => {
    given(trialDecider, ...running, lost, runRequested(2))
      .when(name(1, checkpointA))
      .thenNothing();
    given(trialDecider).when(name(1, checkpointA)).thenNothing();
  });
});
