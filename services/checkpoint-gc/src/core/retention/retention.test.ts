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

describe("condemning", () => {
  const condemn = { kind: "condemn", condemnation } as const;
  test("a kept one", () => given(decider).when(condemn).then(wasCondemned));
  test("one that was spared before", () =>
    given(decider, wasCondemned, wasSpared).when(condemn).then(wasCondemned));
  test("again is already so, and its grace does not begin again", () => {
    given(decider, wasCondemned).when(condemn).thenNothing();
    given(decider, wasCondemned, deletes).when(condemn).thenNothing();
    given(decider, wasCondemned, deletes, wasDeleted).when(condemn).thenNothing();
  });
});

describe("sparing", () => {
  const spare = { kind: "spare", reason: "needed" } as const;
  test("a condemned one", () => given(decider, wasCondemned).when(spare).then(wasSpared));
  test("a kept one is already so", () => given(decider).when(spare).thenNothing());
  test("one that is being deleted comes too late", () =>
    given(decider, wasCondemned, deletes).when(spare).thenRejected("deletion_started"));
});

describe("starting a deletion", () => {
  const at = (atMs: number) => ({ kind: "start_deletion", atMs }) as const;
  test("when the grace is over", () => given(decider, wasCondemned).when(at(1_000)).then(deletes));
  test("not before", () =>
    given(decider, wasCondemned).when(at(999)).thenRejected("grace_not_over"));
  test("of what was spared", () =>
    given(decider, wasCondemned, wasSpared).when(at(5_000)).thenRejected("not_condemned"));
  test("of what nobody condemned", () =>
    given(decider).when(at(5_000)).thenRejected("not_condemned"));
  test("again is already so", () => {
    given(decider, wasCondemned, deletes).when(at(1_000)).thenNothing();
    given(decider, wasCondemned, deletes, wasDeleted).when(at(1_000)).thenNothing();
  });
});

describe("recording a deletion", () => {
  const record = { kind: "record_deletion", files: 2, bytes: 3 } as const;
  test("that had started", () =>
    given(decider, wasCondemned, deletes).when(record).then(wasDeleted));
  test("again is already so", () =>
    given(decider, wasCondemned, deletes, wasDeleted).when(record).thenNothing());
  test("that never started", () =>
    given(decider, wasCondemned).when(record).thenRejected("not_deleting"));
});
