import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { evolveRuns, noRuns, refusalOf } from "./trial.ts";

const requested = (run: number): AnyEvent => ({
  type: "RunRequested",
  data: {
    run,
    fromCheckpoint: "",
    fromStep: 0,
    preemptible: true,
    experiment: "1",
    delayMs: 0,
    workspace: "",
    owner: "",
  },
});
const mine = "aaaaaaaa-0000-4000-8000-000000000001";
const other = "bbbbbbbb-0000-4000-8000-000000000002";
const sealed = (checkpoint: string) => ({ checkpoint, step: 10, bytes: 1 });
const ended = (run: number, why: RunEndWhy, ...named: readonly string[]): AnyEvent => ({
  type: "RunEnded",
  data: {
    run,
    why,
    exits: [],
    message: "",
    countsAsRestart: false,
    ...(named.length > 0 && { sealed: { checkpoints: named.map(sealed) } }),
  },
});
const named = (run: number, checkpoint: string): AnyEvent => ({
  type: "RunCheckpointsNamed",
  data: { run, checkpoints: [sealed(checkpoint)], awaitedUntilMs: 0 },
});
const over: AnyEvent = {
  type: "TrialEnded",
  data: { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 },
};
const { FINISHED, LOST } = RunEndWhy;
const refusal = (run: number, ...events: readonly AnyEvent[]) =>
  refusalOf(fold(evolveRuns, noRuns, events), "1.1", run, mine)?.rejected ?? null;

test.each([
  ["the newest run writes", refusal(1, requested(1)), null],
  ["no trial", refusal(1), "trial_not_found"],
  ["a run that was not requested yet", refusal(2, requested(1)), "run_not_found"],
  ["a run that ended", refusal(1, requested(1), ended(1, FINISHED)), "run_ended"],
  ["what the run's end names", refusal(1, requested(1), ended(1, FINISHED, mine), over), null],
  ["what it does not name", refusal(1, requested(1), ended(1, FINISHED, other)), "run_ended"],
  [
    "a checkpoint that it named, once a later run was requested without it",
    refusal(1, requested(1), ended(1, FINISHED, mine), requested(2)),
    "run_superseded",
  ],
  [
    "a checkpoint of a lost run, before its agent reports",
    refusal(1, requested(1), ended(1, LOST)),
    "run_unheard",
  ],
  [
    "a checkpoint that a returned agent names",
    refusal(1, requested(1), ended(1, LOST), named(1, mine)),
    null,
  ],
  [
    "a checkpoint that it names of a run that another has followed",
    refusal(1, requested(1), ended(1, LOST), requested(2), named(1, mine)),
    "run_superseded",
  ],
  [
    "a run after which another was requested",
    refusal(1, requested(1), requested(2)),
    "run_superseded",
  ],
  ["the run that took its place", refusal(2, requested(1), ended(1, LOST), requested(2)), null],
  ["the end of an older run changes nothing", refusal(2, requested(2), ended(1, LOST, mine)), null],
])("%s", (_, found, expected) => expect(found).toBe(expected));
