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
  test("that is repeated changes nothing", () =>
    given(decider, wasDeclared).when(declare).thenNothing());
  test("that is repeated after the completion changes nothing", () =>
    given(decider, wasDeclared, wasCompleted).when(declare).thenNothing());
  test.each([{ trial: "12.4" }, { run: 3 }, { step: 101 }])(
    "of a known id with another %j is refused",
    (change) => given(decider, wasDeclared).when(at(change)).thenRejected("checkpoint_exists"),
  );
  test("that is repeated with a storage id, which the first one lacked, is recorded once", () => {
    const told = { ...declared, storageId: "00000000-0000-4000-8000-00000000000a" };
    const wasTold: CheckpointEvent = { type: "CheckpointDeclared", data: told };
    const other = at({ storageId: "00000000-0000-4000-8000-00000000000b" });
    given(decider, wasDeclared).when({ kind: "declare", declared: told }).then(wasTold);
    given(decider, wasDeclared, wasTold).when(other).thenNothing();
    given(decider, wasDeclared, wasCompleted).when(other).thenNothing();
  });
  test("of a person's folder is refused from another person and from a run", () => {
    const folder = { ...declared, trial: "", run: 0, uploadedBy: "ada" };
    const wasUploaded: CheckpointEvent = { type: "CheckpointDeclared", data: folder };
    const by = (uploadedBy: string) => at({ ...folder, uploadedBy });
    given(decider).when(by("ada")).then(wasUploaded);
    given(decider, wasUploaded).when(by("ada")).thenNothing();
    given(decider, wasUploaded).when(by("bob")).thenRejected("checkpoint_exists");
    given(decider, wasUploaded).when(declare).thenRejected("checkpoint_exists");
    given(decider, wasDeclared).when(by("ada")).thenRejected("checkpoint_exists");
  });
  test("of a failed checkpoint is refused", () =>
    given(decider, wasDeclared, hadFailed).when(declare).thenRejected("checkpoint_failed"));
  test("of an abandoned checkpoint is refused", () =>
    given(decider, wasDeclared, wasAbandoned).when(declare).thenRejected("checkpoint_abandoned"));
});

describe("completing", () => {
  const complete = { kind: "complete", manifest } as const;

  test("a declared checkpoint is recorded", () =>
    given(decider, wasDeclared).when(complete).then(wasCompleted));
  test("a complete checkpoint again changes nothing", () =>
    given(decider, wasDeclared, wasCompleted).when(complete).thenNothing());
  test("a complete checkpoint with another manifest is refused", () =>
    given(decider, wasDeclared, wasCompleted)
      .when({ kind: "complete", manifest: { ...manifest, digest: "d2" } })
      .thenRejected("checkpoint_exists"));
  test("an undeclared checkpoint is refused", () =>
    given(decider).when(complete).thenRejected("checkpoint_not_found"));
  test("a failed checkpoint is refused", () =>
    given(decider, wasDeclared, hadFailed).when(complete).thenRejected("checkpoint_failed"));
  test("an abandoned checkpoint is refused", () =>
    given(decider, wasDeclared, wasAbandoned).when(complete).thenRejected("checkpoint_abandoned"));
});

describe("progress of an upload", () => {
  const progress = { kind: "note_progress" } as const;
  const hasProgressed: CheckpointEvent = {
    type: "CheckpointUploadProgressed",
    data: { trial: "12.3", run: 2 },
  };
  test("of a declared checkpoint is recorded each time", () =>
    given(decider, wasDeclared, hasProgressed).when(progress).then(hasProgressed));
  test("does not affect the completion", () =>
    given(decider, wasDeclared, hasProgressed)
      .when({ kind: "complete", manifest })
      .then(wasCompleted));
  test.each([wasCompleted, hadFailed, wasAbandoned])(
    "after the checkpoint's end is not recorded: %j",
    (end) => given(decider, wasDeclared, end).when(progress).thenNothing(),
  );
});

describe("failing or abandoning", () => {
  const fail = { kind: "fail", reason: "truncated" } as const;
  const abandon = { kind: "abandon", reason: "over" } as const;

  test("a declared checkpoint whose files differ is recorded", () =>
    given(decider, wasDeclared).when(fail).then(hadFailed));
  test("a declared checkpoint whose run is over is recorded", () =>
    given(decider, wasDeclared).when(abandon).then(wasAbandoned));
  test.each([wasCompleted, hadFailed, wasAbandoned])(
    "a checkpoint after its end changes nothing: %j",
    (end) => {
      given(decider, wasDeclared, end).when(fail).thenNothing();
      given(decider, wasDeclared, end).when(abandon).thenNothing();
    },
  );
  test("an unknown checkpoint changes nothing", () => given(decider).when(abandon).thenNothing());
});
