import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { evolveRuns, noRuns, refusalOf } from "./trial.ts";

const requested = (run: number): AnyEvent => ({
  type: "RunRequested",
  data: { run, fromCheckpoint: "", fromStep: 0, preemptible: true, experiment: "1", delayMs: 0 },
});
const ended = (run: number): AnyEvent => ({
  type: "RunEnded",
  data: { run, why: RunEndWhy.LOST, exits: [], message: "", countsAsRestart: false },
});
const refusal = (run: number, ...events: readonly AnyEvent[]) =>
  refusalOf(fold(evolveRuns, noRuns, events), "1.1", run)?.rejected ?? null;

test.each([
  ["the newest run writes", refusal(1, requested(1)), null],
  ["no trial", refusal(1), "trial_not_found"],
  ["a run that was not requested yet", refusal(2, requested(1)), "run_not_found"],
  ["a run that ended", refusal(1, requested(1), ended(1)), "run_ended"],
  [
    "a run after which another was requested",
    refusal(1, requested(1), requested(2)),
    "run_superseded",
  ],
  ["the run that took its place", refusal(2, requested(1), ended(1), requested(2)), null],
  ["the end of an older run changes nothing", refusal(2, requested(2), ended(1)), null],
])("%s", (_, found, expected) => expect(found).toBe(expected));
