import { RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  checkpointA,
  checkpointB,
  runEnded,
  runRequested,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";

const running = [trialCreated(), runRequested(1)] as const;
const note = (run: number, checkpoint = checkpointA, step = 100) =>
  ({ kind: "note_checkpoint", noted: { checkpoint, run, step } }) as const;

describe("noting a checkpoint", () => {
  test("is recorded for the newest run, also just after its end", () => {
    given(trialDecider, ...running)
      .when(note(1))
      .then(trialCheckpointed());
    given(trialDecider, ...running, runEnded(1, RunEndWhy.FAILED))
      .when(note(1))
      .then(trialCheckpointed());
  });

  test("is recorded once", () => {
    given(trialDecider, ...running, trialCheckpointed())
      .when(note(1))
      .thenNothing();
  });

  test("is ignored for a run that a later run has superseded", () => {
    given(trialDecider, ...running, runEnded(1, RunEndWhy.LOST), runRequested(2))
      .when(note(1))
      .thenNothing();
  });

  test("is ignored for a trial that does not exist or has ended", () => {
    given(trialDecider).when(note(0)).thenNothing();
    const ended = trialEnded(TrialOutcome.COMPLETED, "finished");
    given(trialDecider, ...running, runEnded(1, RunEndWhy.FINISHED), ended)
      .when(note(1))
      .thenNothing();
  });

  test("keeps the checkpoint with most steps as the latest, whichever completed last", () => {
    const { state } = given(
      trialDecider,
      ...running,
      trialCheckpointed(checkpointB, 1, 200),
      trialCheckpointed(checkpointA, 1, 100),
    );
    expect(state.checkpoints.at(-1)?.checkpoint).toBe(checkpointB);
  });

  test("keeps only the latest checkpoints, up to the limit", () => {
    const many = limits.checkpointsRemembered + 5;
    const noted = Array.from({ length: many }, (_, n) => trialCheckpointed(`c${n}`, 1, n));
    const { checkpoints } = given(trialDecider, ...running, ...noted).state;
    expect(checkpoints).toHaveLength(limits.checkpointsRemembered);
    expect(checkpoints.at(-1)?.checkpoint).toBe(`c${many - 1}`);
  });
});
