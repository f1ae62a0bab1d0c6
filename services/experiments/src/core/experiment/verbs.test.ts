/** Tests of every verb in every state of an experiment: the event that it records, or the code of its refusal. */
import { ExperimentOutcome, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import { fold, isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { activated, experimentCreated, stopRequested } from "../../testing/examples.ts";
import type { ExperimentCommand } from "./commands.ts";
import { decideExperiment } from "./decide.ts";
import { evolveExperiment, initialExperiment } from "./evolve.ts";
import type { ExperimentEvent } from "./state.ts";

const archived: ExperimentEvent = { type: "ExperimentArchived", data: { reason: "" } };
const created = experimentCreated();
const ended = (outcome: ExperimentOutcome): ExperimentEvent => ({
  type: "ExperimentEnded",
  data: { outcome, reason: "" },
});
const deletionRequested: ExperimentEvent = {
  type: "ExperimentDeletionRequested",
  data: { graceEndMs: 100, reason: "" },
};
const completed = [created, activated, ended(ExperimentOutcome.COMPLETED)];

const states = {
  none: [],
  PAUSED: [created],
  ACTIVE: [created, activated],
  STOPPING_CANCELED: [created, activated, stopRequested(StopKind.CANCEL)],
  STOPPING_KILLED: [created, activated, stopRequested(StopKind.KILL)],
  COMPLETED: completed,
  CANCELED: [created, stopRequested(StopKind.CANCEL), ended(ExperimentOutcome.CANCELED)],
  ERROR: [created, activated, ended(ExperimentOutcome.FAILED)],
  archived: [...completed, archived],
  unarchived: [...completed, archived, { type: "ExperimentUnarchived", data: {} }],
  deleted: [...completed, deletionRequested],
  undeleted: [...completed, deletionRequested, { type: "ExperimentDeletionUndone", data: {} }],
  gone: [...completed, deletionRequested, { type: "ExperimentDeleted", data: {} }],
  continued: [
    ...completed,
    { type: "ExperimentContinued", data: { continuation: 1, request: "r0" } },
  ],
} as const satisfies Record<string, readonly ExperimentEvent[]>;

const verbs = {
  activate: { kind: "activate" },
  pause: { kind: "pause" },
  cancel: { kind: "stop", stop: StopKind.CANCEL, reason: "" },
  kill: { kind: "stop", stop: StopKind.KILL, reason: "" },
  describe: { kind: "describe", words: { notes: "n", addLabels: [], removeLabels: [] } },
  archive: { kind: "archive", reason: "" },
  unarchive: { kind: "unarchive" },
  continue: { kind: "continue", request: "r1", change: {}, isUnfinished: true },
  "restart a trial": {
    kind: "restart_trial",
    request: "r1",
    number: 1,
    outcome: TrialOutcome.FAILED,
  },
  delete: { kind: "delete", graceEndMs: 100, reason: "" },
  undelete: { kind: "undelete" },
  "end the grace": { kind: "delete_for_good", atMs: 100 },
  "end the grace too early": { kind: "delete_for_good", atMs: 99 },
  move: { kind: "move", workspace: "vision", project: "irises" },
} as const satisfies Record<string, ExperimentCommand>;

/** The outcomes in the order of the verbs. "-": nothing is recorded, as the experiment is in that state already. */
const table: Readonly<Record<keyof typeof states, readonly string[]>> = {
  none: Array.from({ length: 14 }, () => "experiment_not_found"),
  PAUSED: [
    "Activated",
    "-",
    "StopRequested",
    "StopRequested",
    "Described",
    "experiment_not_ended",
    "-",
    "experiment_not_ended",
    "Continued",
    "experiment_not_ended",
    "-",
    "-",
    "-",
    "Moved",
  ],
  ACTIVE: [
    "-",
    "Paused",
    "StopRequested",
    "StopRequested",
    "Described",
    "experiment_not_ended",
    "-",
    "experiment_not_ended",
    "Continued",
    "experiment_not_ended",
    "-",
    "-",
    "-",
    "Moved",
  ],
  STOPPING_CANCELED: [
    "experiment_stopping",
    "experiment_stopping",
    "-",
    "StopRequested",
    "Described",
    "experiment_not_ended",
    "-",
    "experiment_not_ended",
    "experiment_stopping",
    "experiment_not_ended",
    "-",
    "-",
    "-",
    "Moved",
  ],
  STOPPING_KILLED: [
    "experiment_stopping",
    "experiment_stopping",
    "-",
    "-",
    "Described",
    "experiment_not_ended",
    "-",
    "experiment_not_ended",
    "experiment_stopping",
    "experiment_not_ended",
    "-",
    "-",
    "-",
    "Moved",
  ],
  COMPLETED: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "Archived",
    "-",
    "Continued",
    "Continued",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  CANCELED: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "Archived",
    "-",
    "Continued",
    "Continued",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  ERROR: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "Archived",
    "-",
    "Continued",
    "Continued",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  archived: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "-",
    "Unarchived",
    "experiment_archived",
    "experiment_archived",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  unarchived: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "Archived",
    "-",
    "Continued",
    "Continued",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  deleted: [
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "experiment_deleted",
    "-",
    "DeletionUndone",
    "Deleted",
    "-",
    "experiment_deleted",
  ],
  undeleted: [
    "experiment_ended",
    "experiment_ended",
    "-",
    "-",
    "Described",
    "Archived",
    "-",
    "Continued",
    "Continued",
    "DeletionRequested",
    "-",
    "-",
    "-",
    "Moved",
  ],
  gone: [
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "experiment_not_found",
    "-",
    "experiment_not_found",
    "-",
    "-",
    "experiment_not_found",
  ],
  continued: [
    "-",
    "Paused",
    "StopRequested",
    "StopRequested",
    "Described",
    "experiment_not_ended",
    "-",
    "experiment_not_ended",
    "Continued",
    "experiment_not_ended",
    "-",
    "-",
    "-",
    "Moved",
  ],
};

const names = Object.keys(states) as readonly (keyof typeof states)[];
const verbNames = Object.keys(verbs) as readonly (keyof typeof verbs)[];

describe.each(names)("an experiment that is %s", (state) => {
  test.each(verbNames.map((verb, at) => [verb, table[state][at] ?? "no cell"] as const))(
    "answers %s with %s",
    (verb, outcome) => {
      const history: readonly ExperimentEvent[] = states[state];
      const before = fold(evolveExperiment, initialExperiment, history);
      const decided = decideExperiment(before, verbs[verb]);
      if (isRejection(decided)) return expect(decided.rejected).toBe(outcome);
      const recorded = decided.map(({ type }) => type.replace("Experiment", ""));
      expect(recorded.join(" ") || "-").toBe(outcome);
      // A repeat of the verb records nothing.
      const after = decided.reduce(evolveExperiment, before);
      return expect(decideExperiment(after, verbs[verb])).toEqual([]);
    },
  );
});

test("archiving keeps the reason, cut to the length that an event keeps", () => {
  const before = fold(evolveExperiment, initialExperiment, completed);
  const [event] = [decideExperiment(before, { kind: "archive", reason: "r".repeat(9_000) })].flat();
  expect(event).toMatchObject({ type: "ExperimentArchived", data: { reason: "r".repeat(2_000) } });
});

test("undoing the deletion of an experiment that was deleted for good is refused with that reason", () => {
  const before = fold(
    evolveExperiment,
    initialExperiment,
    states.gone as readonly ExperimentEvent[],
  );
  expect(decideExperiment(before, verbs.undelete)).toMatchObject({
    rejected: "experiment_not_found",
    detail: "the experiment was deleted for good: its grace is over",
  });
});
