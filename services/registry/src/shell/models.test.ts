/** Registrations concurrent with deletions, on a log in memory that a second process writes to. */
import type { AnyEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { type CommandFunctions, Executor, FoldCache } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { expect, test } from "vitest";
import type { Telemetry } from "../telemetry.ts";
import { modelCommands } from "./models.ts";

const checkpoint = "aaaaaaaa-0000-4000-8000-000000000001";
const events = { versionRegistered: () => {} } as unknown as Telemetry;

async function begin() {
  const stage = new Stage("registry", () => ({}));
  const declared: AnyEvent = {
    type: "CheckpointDeclared",
    data: { trial: "1.1", run: 1, step: 10, format: "" },
  };
  const completed: AnyEvent = {
    type: "CheckpointCompleted",
    data: { manifestDigest: "d", files: 1, bytes: 1, trial: "1.1", run: 1, step: 10 },
  };
  await stage.tell(`checkpoint-${checkpoint}`, declared, completed);
  const executor = new Executor(stage.log, new FoldCache(stage.log));
  const commands: CommandFunctions = modelCommands({ executor, log: stage.log, events });
  const ask = (name: string, request: object) => {
    const meta = { source: "", workspace: "", correlationid: "", causationid: "" };
    const identity = {
      commitId: newEventId(),
      meta: { ...meta, authid: "ada", traceparent: "" },
    };
    const context = { identity, authid: "ada", throwIfLate: () => {} };
    return commands[name]?.(request as never, context);
  };
  const words = { addLabels: [], removeLabels: [] };
  const register = () =>
    ask("RegisterVersion", {
      model: "m",
      checkpoint,
      semanticVersion: "",
      words,
      createModel: true,
      onlyTrial: "",
      place: {
        workspace: "default",
        project: "default",
        workspaceId: "default",
        projectId: "default",
      },
    });
  const remove = () => ask("RemoveVersion", { model: "m", version: "latest", reason: "" });
  const names = async (stream: string) => {
    const stored = await stage.log.read(stream, 0, 100);
    return stored.map(({ type }) => type.split(".")[3]);
  };
  return { stage, register, remove, names };
}

test("a registration and a deletion at the same moment conflict: one is refused", async () => {
  const { stage, register, remove, names } = await begin();
  // From then on the process caches the current retention.
  expect(await register()).toMatchObject({ number: 1 });
  await remove();
  await stage.tell(`retention-${checkpoint}`, { type: "CheckpointDeletionStarted", data: {} });
  expect(await register()).toMatchObject({ rejected: "checkpoint_deleted" });
  expect(await names("model-m")).toEqual(["ModelCreated", "VersionRegistered", "VersionRemoved"]);
  expect((await names(`checkpoint-${checkpoint}`)).at(-1)).toBe("CheckpointUnpinned");
});

test("a version pins its checkpoint even if a person pinned it at the same time", async () => {
  const { stage, register, remove, names } = await begin();
  await register();
  await remove();
  const pinned: AnyEvent = {
    type: "CheckpointPinned",
    data: { by: "bob", holder: "", reason: "mine" },
  };
  await stage.tell(`checkpoint-${checkpoint}`, pinned);
  expect(await register()).toMatchObject({ number: 2 });
  expect((await names(`checkpoint-${checkpoint}`)).slice(-2)).toEqual([
    "CheckpointPinned",
    "CheckpointPinned",
  ]);
});
