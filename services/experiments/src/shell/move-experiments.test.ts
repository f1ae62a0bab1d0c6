/** Tests of the workspace and project that experiments are created in and moved to, on a log in memory. */
import type { AnyEvent, Plain } from "@trainyard/contracts";
import type { Place } from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { CommandFunctions } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import { exampleConfig, examplePlace } from "../testing/examples.ts";
import { commandTable } from "./commands.ts";
import { memoryIds } from "../testing/memory-ids.ts";

const place: Plain<Place> = {
  workspace: "Lab",
  project: "Flowers",
  workspaceId: "w",
  projectId: "p",
};
const words = { description: "", notes: "", by: "ada" };
const workspaceMade: AnyEvent = { type: "WorkspaceCreated", data: { name: "Lab", ...words } };
const projectMade: AnyEvent = {
  type: "ProjectCreated",
  data: { name: "Flowers", workspace: "w", ...words },
};
const archived = { reason: "", by: "ada" };

let stage: Stage;
let ask: (name: string, request: object) => Promise<object>;

beforeEach(async () => {
  stage = new Stage("experiments", () => ({}));
  const grace = { clock: systemClock, deletionGraceMs: 60_000 };
  const table: CommandFunctions = commandTable(stage.executor, memoryIds(), grace);
  ask = async (name, request) => {
    const meta = { source: "", workspace: "", correlationid: "", causationid: "", traceparent: "" };
    const identity = { commitId: newEventId(), meta: { ...meta, authid: "ada" } };
    const context = { identity, authid: "ada", throwIfLate: () => {} };
    const answer = await table[name]?.(request as never, context);
    return answer as object;
  };
  await stage.tell("workspace-w", workspaceMade);
  await stage.tell("project-p", projectMade);
});

const create = (where: Plain<Place>) =>
  ask("CreateExperiment", {
    config: exampleConfig,
    configSourceDigest: "",
    contextDigest: "",
    contextBytes: 0,
    submissionDigest: "",
    tokenId: "",
    seed: 1,
    owner: "ada",
    paused: true,
    place: where,
  });
const move = (experiments: readonly string[], where: Plain<Place> = place, dryRun = false) =>
  ask("MoveExperiments", { experiments, place: where, dryRun });
const typesOf = async (stream: string) => (await stage.stream(stream)).map(({ type }) => type);

test("an experiment is created in the place of the request", async () => {
  await create(place);
  expect(await stage.stream("experiment-1")).toMatchObject([
    { data: { workspace: "Lab", project: "Flowers" } },
  ]);
});

test("a move changes exactly the named experiments, once", async () => {
  for (let n = 0; n < 3; n += 1) await create(examplePlace);
  expect(await move(["2", "9"], place, true)).toMatchObject({
    position: 0,
    items: [{ changed: true }, { code: "experiment_not_found" }],
  });
  expect(await typesOf("experiment-2")).toEqual(["ExperimentCreated"]);
  await move(["2", "3"]);
  expect(await move(["2", "3"])).toMatchObject({ items: [{ changed: false }, { changed: false }] });
  expect(await typesOf("experiment-1")).toEqual(["ExperimentCreated"]);
  expect(await stage.stream("experiment-3")).toMatchObject([
    {},
    { type: "ExperimentMoved", data: { workspace: "Lab", project: "Flowers" } },
  ]);
  await move(["2"], examplePlace);
  expect(await typesOf("experiment-2")).toEqual([
    "ExperimentCreated",
    "ExperimentMoved",
    "ExperimentMoved",
  ]);
});

test.each<readonly [string, string, AnyEvent, string]>([
  [
    "an archived workspace",
    "workspace-w",
    { type: "WorkspaceArchived", data: archived },
    "workspace_archived",
  ],
  [
    "an archived project",
    "project-p",
    { type: "ProjectArchived", data: archived },
    "project_archived",
  ],
])("%s accepts no experiment, and those in it stay", async (_, stream, event, code) => {
  await create(place);
  await create(examplePlace);
  await stage.tell(stream, event);
  expect(await move(["2"])).toMatchObject({ rejected: code });
  expect(await create(place)).toMatchObject({ rejected: code });
  expect(await typesOf("experiment-2")).toEqual(["ExperimentCreated"]);
  expect(await typesOf("experiment-1")).toEqual(["ExperimentCreated"]);
  expect(await move(["1"], examplePlace)).toMatchObject({ items: [{ changed: true }] });
});

test("an unknown workspace or project refuses the whole move", async () => {
  await create(examplePlace);
  expect(await move(["1"], { ...place, projectId: "none" })).toMatchObject({
    rejected: "project_not_found",
  });
  expect(await move(["1"], { ...place, workspaceId: "" })).toMatchObject({
    rejected: "workspace_not_found",
  });
});

test("a project that is archived while an experiment is moved into it refuses the move", async () => {
  await create(examplePlace);
  await move([], place);
  // The cached state of the project is stale; the guard refuses the commit.
  await stage.tell("project-p", { type: "ProjectArchived", data: archived });
  expect(await move(["1"])).toMatchObject({ rejected: "project_archived" });
  expect(await typesOf("experiment-1")).toEqual(["ExperimentCreated"]);
});
