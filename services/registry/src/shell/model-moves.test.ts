/** The workspace of a model, on a log in memory. */
import type { AnyEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { type CommandFunctions, Executor, FoldCache } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { expect, test } from "vitest";
import type { Telemetry } from "../telemetry.ts";
import { modelCommands } from "./models.ts";

const events = { versionRegistered: () => {} } as unknown as Telemetry;
const inDefault = { project: "default", projectId: "default" };
const place = { workspace: "Lab", workspaceId: "w", ...inDefault };
const always = { workspace: "default", workspaceId: "default", ...inDefault };
const words = { addLabels: [], removeLabels: [] };

test("a model is created in a workspace and moved, but not to an archived workspace", async () => {
  const stage = new Stage("registry", () => ({}));
  const executor = new Executor(stage.log, new FoldCache(stage.log));
  const commands: CommandFunctions = modelCommands({ executor, log: stage.log, events });
  const ask = (name: string, request: object) => {
    const meta = { source: "", workspace: "", correlationid: "", causationid: "", traceparent: "" };
    const identity = { commitId: newEventId(), meta: { ...meta, authid: "ada" } };
    const context = { identity, authid: "ada", throwIfLate: () => {} };
    return commands[name]?.(request as never, context);
  };
  const made: AnyEvent = {
    type: "WorkspaceCreated",
    data: { name: "Lab", description: "", notes: "", by: "ada" },
  };
  expect(await ask("CreateModel", { model: "m", words, place })).toMatchObject({
    rejected: "workspace_not_found",
  });
  await stage.tell("workspace-w", made);
  await ask("CreateModel", { model: "m", words, place: always });
  await ask("MoveModel", { model: "m", place });
  expect(await ask("MoveModel", { model: "m", place })).toMatchObject({ position: 0 });
  expect(await stage.stream("model-m")).toMatchObject([
    { type: "ModelCreated", data: { workspace: "default" } },
    { type: "ModelMoved", data: { workspace: "Lab", by: "ada" } },
  ]);
  await stage.tell("workspace-w", { type: "WorkspaceArchived", data: { reason: "", by: "ada" } });
  expect(await ask("CreateModel", { model: "n", words, place })).toMatchObject({
    rejected: "workspace_archived",
  });
  expect(await ask("MoveModel", { model: "none", place })).toMatchObject({
    rejected: "workspace_archived",
  });
});
