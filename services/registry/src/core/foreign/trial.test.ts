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
  refusalOf(fold(evolveRuns, noRuns, events), { trial: "1.1", run }, mine)?.rejected ?? null;
const task = { trial: "", task: "t1", run: 1 };
const paused = ended(1, FINISHED, mine);
const resumed: AnyEvent = { type: "TaskResumed", data: {} };
const deleted: AnyEvent = { type: "TaskDeleted", data: {} };
const created = (kind: string): AnyEvent => ({
  type: "TaskCreated",
  data: {
    ...{ kind, config: {}, name: "", contextDigest: "", contextBytes: 0, owner: "" },
    ...{ workspace: "", tokenId: "", sources: [] },
  },
});
const ofTask = (...events: readonly AnyEvent[]) =>
  refusalOf(fold(evolveRuns, noRuns, events), task, mine)?.rejected ?? null;

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
  ["a task's newest run saves", ofTask(requested(1)), null],
  ["a save that the end of a paused task's run names", ofTask(requested(1), paused), null],
  [
    "a save that it names, once the task is resumed without it",
    ofTask(requested(1), paused, resumed, requested(2)),
    "run_superseded",
  ],
  ["a save of a deleted task", ofTask(requested(1), paused, deleted), "task_deleted"],
  [
    "a save of a command that keeps no work",
    ofTask(created("command"), requested(1)),
    "work_not_kept",
  ],
  ["a save of a notebook", ofTask(created("notebook"), requested(1)), null],
  ["a save without a task", ofTask(), "task_not_found"],
  ["the end of an older run changes nothing", refusal(2, requested(2), ended(1, LOST, mine)), null],
])("%s", (_, found, expected) => expect(found).toBe(expected));
