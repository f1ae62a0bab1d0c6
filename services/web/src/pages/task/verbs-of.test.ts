import { describe, expect, it } from "vitest";
import { type Paused, verbsOf } from "./verbs-of.ts";

const notebook: Paused = { kind: "notebook", state: "RUNNING", keepsWork: true, unsaved: "" };
const save = { checkpoint: "1", run: 1, files: 1, bytes: 1, savedAtMs: 1 };

const possible = (task: Partial<Paused>) =>
  verbsOf({ ...notebook, ...task })
    .filter(({ why }) => why === undefined)
    .map(({ verb }) => verb);

const reasons = (task: Partial<Paused>) =>
  verbsOf({ ...notebook, ...task }).flatMap(({ why }) => why ?? []);

describe("the verbs of a task's page", () => {
  it("pause and kill a notebook that waits or runs", () => {
    expect(possible({})).toEqual(["pause", "kill"]);
    expect(possible({ state: "QUEUED" })).toEqual(["pause", "kill"]);
  });

  it.each(["PAUSED", "COMPLETED", "KILLED", "ERROR"])("resume and delete one in %s", (state) => {
    expect(possible({ state, endedAtMs: 1, lastSave: save })).toEqual(["resume", "delete"]);
  });

  it("say why a task that keeps no work is neither paused nor resumed", () => {
    const command = { kind: "command", keepsWork: false };
    expect(possible(command)).toEqual(["kill"]);
    expect(reasons(command)).toEqual(["Its folder is not saved: it has no keep_work."]);
    const board = { kind: "tensorboard", keepsWork: false, state: "COMPLETED", endedAtMs: 1 };
    expect(possible(board)).toEqual(["delete"]);
    expect(reasons(board)).toEqual(["The folder of a tensorboard is not saved."]);
  });

  it("say that a stopping task cannot be paused", () => {
    expect(reasons({ state: "STOPPING" })).toEqual(["Its processes are being ended."]);
  });

  it("resume no task whose only folder stayed on its agent, and one whose save may still come", () => {
    const ended = { state: "ERROR", endedAtMs: 1 };
    expect(possible(ended)).toEqual(["resume", "delete"]);
    const unsaved = "its folder is beyond 10 GiB";
    expect(possible({ ...ended, unsaved })).toEqual(["delete"]);
    expect(possible({ ...ended, unsaved, lastSave: save })).toEqual(["resume", "delete"]);
  });
});
