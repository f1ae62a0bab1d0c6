import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { checkpointDecider as decider } from "./decide.ts";
import type { CheckpointEvent, Declared } from "./state.ts";

const declared: Declared = {
  trial: "12.3",
  run: 2,
  step: 100,
  storage: { type: "directory", container_path: "/c" },
  format: "",
};
const manifest = { digest: "d1", files: 2, bytes: 30 };
const wasDeclared: CheckpointEvent = { type: "CheckpointDeclared", data: declared };
const wasCompleted: CheckpointEvent = {
  type: "CheckpointCompleted",
  data: { manifestDigest: "d1", files: 2, bytes: 30, trial: "12.3", run: 2, step: 100 },
};
const hadFailed: CheckpointEvent = { type: "CheckpointFailed", data: { reason: "truncated" } };
const wasAbandoned: CheckpointEvent = { type: "CheckpointAbandoned", data: { reason: "over" } };

describe("a declaration", () => {
  const declare = { kind: "declare", declared } as const;
  const at = (change: Partial<Declared>) =>
    ({ kind: "declare", declared: { ...declared, ...change } }) as const;

  test("of a new id is recorded", () => given(decider).when(declare).then(wasDeclared));
  test("again is already so", () => given(decider, wasDeclared).when(declare).thenNothing());
  test("again once it is complete is already so", () =>
    given(decider, wasDeclared, wasCompleted).when(declare).thenNothing());
  test.each([{ trial: "12.4" }, { run: 3 }, { step: 101 }])("of an id with another %j", (change) =>
    given(decider, wasDeclared).when(at(change)).thenRejected("checkpoint_exists"),
  );
  test("again with the id of the storage, which the first had not, is recorded once", () => {
    const told = { ...declared, storageId: "00000000-0000-4000-8000-00000000000a" };
    const wasTold: CheckpointEvent = { type: "CheckpointDeclared", data: told };
    const other = at({ storageId: "00000000-0000-4000-8000-00000000000b" });
    given(decider, wasDeclared).when({ kind: "declare", declared: told }).then(wasTold);
    given(decider, wasDeclared, wasTold).when(other).thenNothing();
    given(decider, wasDeclared, wasCompleted).when(other).thenNothing();
  });
  test("of a person's folder by another person, or by a run, is refused", () => {
    const folder = { ...declared, trial: "", run: 0, uploadedBy: "ada" };
    const wasUploaded: CheckpointEvent = { type: "CheckpointDeclared", data: folder };
    const by = (uploadedBy: string) => at({ ...folder, uploadedBy });
    given(decider).when(by("ada")).then(wasUploaded);
    given(decider, wasUploaded).when(by("ada")).thenNothing();
    given(decider, wasUploaded).when(by("bob")).thenRejected("checkpoint_exists");
    given(decider, wasUploaded).when(declare).thenRejected("checkpoint_exists");
    given(decider, wasDeclared).when(by("ada")).thenRejected("checkpoint_exists");
  });
  test("of one that failed", () =>
    given(decider, wasDeclared, hadFailed).when(declare).thenRejected("checkpoint_failed"));
  test("of one that was abandoned", () =>
    given(decider, wasDeclared, wasAbandoned).when(declare).thenRejected("checkpoint_abandoned"));
});

describe("completing", () => {
  const complete = { kind: "complete", manifest } as const;

  test("a declared one", () => given(decider, wasDeclared).when(complete).then(wasCompleted));
  test("again is already so", () =>
    given(decider, wasDeclared, wasCompleted).when(complete).thenNothing());
  test("again with another manifest", () =>
    given(decider, wasDeclared, wasCompleted)
      .when({ kind: "complete", manifest: { ...manifest, digest: "d2" } })
      .thenRejected("checkpoint_exists"));
  test("one that was never declared", () =>
    given(decider).when(complete).thenRejected("checkpoint_not_found"));
  test("one that failed: it stays so", () =>
    given(decider, wasDeclared, hadFailed).when(complete).thenRejected("checkpoint_failed"));
  test("one that was abandoned", () =>
    given(decider, wasDeclared, wasAbandoned).when(complete).thenRejected("checkpoint_abandoned"));
});

describe("progress of an upload", () => {
  const progress = { kind: "note_progress" } as const;
  const hasProgressed: CheckpointEvent = {
    type: "CheckpointUploadProgressed",
    data: { trial: "12.3", run: 2 },
  };
  test("of a declared one is recorded each time", () =>
    given(decider, wasDeclared, hasProgressed).when(progress).then(hasProgressed));
  test("changes nothing of what completes it", () =>
    given(decider, wasDeclared, hasProgressed)
      .when({ kind: "complete", manifest })
      .then(wasCompleted));
  test.each([wasCompleted, hadFailed, wasAbandoned])("of one that has its end is not: %j", (end) =>
    given(decider, wasDeclared, end).when(progress).thenNothing(),
  );
});

describe("giving up", () => {
  const fail = { kind: "fail", reason: "truncated" } as const;
  const abandon = { kind: "abandon", reason: "over" } as const;

  test("a declared one whose files differ", () =>
    given(decider, wasDeclared).when(fail).then(hadFailed));
  test("a declared one whose run is over", () =>
    given(decider, wasDeclared).when(abandon).then(wasAbandoned));
  test.each([wasCompleted, hadFailed, wasAbandoned])("never one that has its end: %j", (end) => {
    given(decider, wasDeclared, end).when(fail).thenNothing();
    given(decider, wasDeclared, end).when(abandon).thenNothing();
  });
  test("nothing of an unknown one", () => given(decider).when(abandon).thenNothing());
});
