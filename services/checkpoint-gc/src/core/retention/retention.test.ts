import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { retentionDecider as decider } from "./decide.ts";
import type { Condemnation, RetentionEvent } from "./state.ts";

const condemnation: Condemnation = {
  policy: { saveExperimentBest: 0, saveTrialBest: 1, saveTrialLatest: 1 },
  competitors: [],
  referencesChecked: [],
  graceEndMs: 1_000,
  experiment: "1",
  by: "",
  reason: "",
};
const wasCondemned: RetentionEvent = { type: "CheckpointCondemned", data: condemnation };
const wasSpared: RetentionEvent = { type: "CheckpointSpared", data: { reason: "needed" } };
const deletes: RetentionEvent = { type: "CheckpointDeletionStarted", data: {} };
const wasDeleted: RetentionEvent = { type: "CheckpointDeleted", data: { files: 2, bytes: 3 } };

describe("the decider of a condemnation", () => {
  const condemn = { kind: "condemn", condemnation } as const;
  test("condemns a kept checkpoint", () => given(decider).when(condemn).then(wasCondemned));
  test("condemns a checkpoint that was spared before", () =>
    given(decider, wasCondemned, wasSpared).when(condemn).then(wasCondemned));
  test("does nothing for a condemned checkpoint, whose grace does not start again", () => {
    given(decider, wasCondemned).when(condemn).thenNothing();
    given(decider, wasCondemned, deletes).when(condemn).thenNothing();
    given(decider, wasCondemned, deletes, wasDeleted).when(condemn).thenNothing();
  });
});

describe("the decider of a sparing", () => {
  const spare = { kind: "spare", reason: "needed" } as const;
  test("spares a condemned checkpoint", () =>
    given(decider, wasCondemned).when(spare).then(wasSpared));
  test("does nothing for a kept checkpoint", () => given(decider).when(spare).thenNothing());
  test("refuses to spare a checkpoint that is being deleted", () =>
    given(decider, wasCondemned, deletes).when(spare).thenRejected("deletion_started"));
});

describe("the decider of a deletion", () => {
  const at = (atMs: number) => ({ kind: "start_deletion", atMs }) as const;
  test("starts the deletion when the grace is over", () =>
    given(decider, wasCondemned).when(at(1_000)).then(deletes));
  test("refuses a deletion before the grace is over", () =>
    given(decider, wasCondemned).when(at(999)).thenRejected("grace_not_over"));
  test("refuses the deletion of a spared checkpoint", () =>
    given(decider, wasCondemned, wasSpared).when(at(5_000)).thenRejected("not_condemned"));
  test("refuses the deletion of a checkpoint that was never condemned", () =>
    given(decider).when(at(5_000)).thenRejected("not_condemned"));
  test("does nothing for a deletion that has started or is done", () => {
    given(decider, wasCondemned, deletes).when(at(1_000)).thenNothing();
    given(decider, wasCondemned, deletes, wasDeleted).when(at(1_000)).thenNothing();
  });
});

describe("the decider of a deletion's record", () => {
  const record = { kind: "record_deletion", files: 2, bytes: 3 } as const;
  test("records a deletion that had started", () =>
    given(decider, wasCondemned, deletes).when(record).then(wasDeleted));
  test("does nothing for a deletion that is recorded already", () =>
    given(decider, wasCondemned, deletes, wasDeleted).when(record).thenNothing());
  test("refuses to record a deletion that never started", () =>
    given(decider, wasCondemned).when(record).thenRejected("not_deleting"));
});
