/** The model registry over a real PostgreSQL: which changes are one commit, and which are refused. */
import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
}, 60_000);
afterAll(() => registry[Symbol.asyncDispose]());

const noWords = { addLabels: [], removeLabels: [] };
const refusedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });
const accepted = (number: number) => ({ kind: "ok", reply: { number } });

let models = 0;

async function newModel(): Promise<string> {
  models += 1;
  const model = `model-${models}`;
  const [name, id] = ["default", "default"];
  const place = { workspace: name, workspaceId: id, project: name, projectId: id };
  await registry.stage.ask("registry", "CreateModel", { model, words: noWords, place });
  return model;
}

function register(
  model: string,
  checkpoint: string,
  more: { readonly onlyTrial?: string; readonly semanticVersion?: string } = {},
) {
  const { onlyTrial = "", semanticVersion = "" } = more;
  const message = {
    model,
    checkpoint,
    semanticVersion,
    words: noWords,
    createModel: false,
    onlyTrial,
  };
  return registry.stage.ask("registry", "RegisterVersion", message);
}

function remove(model: string, version: string) {
  const message = { model, version, reason: "" };
  return registry.stage.ask("registry", "RemoveVersion", message);
}

async function storedCheckpoint(): Promise<{
  readonly checkpoint: string;
  readonly trial: string;
}> {
  const trial = await registry.newTrial();
  const { checkpoint } = await registry.stored(trial);
  return { checkpoint, trial };
}

const validation = (trial: string, run: number, step: number, loss: number): AnyEvent => ({
  type: "ValidationReported",
  data: { trial, run, step, scalars: { loss }, reportKey: `0-${run}-${step}`, nonNumeric: [] },
});

test("a version and its pin are one commit, and so are a removal and the end of the pin", async () => {
  const model = await newModel();
  const { checkpoint, trial } = await storedCheckpoint();
  await registry.stage.tell(
    `measurement-${trial}`,
    validation(trial, 1, 9, 0.9),
    validation(trial, 1, 10, 0.5),
    validation(trial, 2, 10, 0.1),
  );
  expect(await register(model, checkpoint)).toMatchObject(accepted(1));
  expect((await registry.stage.events(`model-${model}`)).at(-1)).toMatchObject({
    type: "VersionRegistered",
    data: { number: 1, checkpoint, trial, run: 1, step: 10, metrics: { loss: 0.5 } },
  });
  const holder = `model-version:${model}/1`;
  expect((await registry.stage.events(`checkpoint-${checkpoint}`)).at(-1)).toMatchObject({
    type: "CheckpointPinned",
    data: { holder },
  });
  expect(await remove(model, "1")).toMatchObject(accepted(1));
  expect((await registry.stage.events(`checkpoint-${checkpoint}`)).at(-1)).toMatchObject({
    type: "CheckpointUnpinned",
    data: { holder },
  });
  const together = await registry.stage.sql(
    `select commit_position from log.events where stream = any($1)
     group by commit_position having count(distinct stream) = 2`,
    [[`model-${model}`, `checkpoint-${checkpoint}`]],
  );
  expect(together).toHaveLength(2);
});

test("a checkpoint is at most one version of a model, but may be a version of two models", async () => {
  const [model, other] = [await newModel(), await newModel()];
  const { checkpoint } = await storedCheckpoint();
  expect(await register(model, checkpoint)).toMatchObject(accepted(1));
  expect(await register(model, checkpoint)).toMatchObject({
    kind: "ok",
    reply: { number: 1, position: 0 },
  });
  expect(await register(other, checkpoint)).toMatchObject(accepted(1));
  await remove(model, "1");
  expect(await registry.names(checkpoint)).toEqual([
    "CheckpointDeclared",
    "CheckpointCompleted",
    "CheckpointPinned",
    "CheckpointPinned",
    "CheckpointUnpinned",
  ]);
});

test("only a complete checkpoint becomes a version", async () => {
  const model = await newModel();
  const trial = await registry.newTrial();
  const { checkpoint } = await registry.declare(trial);
  expect(await register(model, checkpoint)).toMatchObject(refusedAs("checkpoint_not_complete"));
  expect(await register(model, randomUUID())).toMatchObject(refusedAs("checkpoint_not_found"));
  expect(await register(model, "../etc")).toMatchObject(refusedAs("checkpoint_not_found"));
  expect(await register("../etc", (await storedCheckpoint()).checkpoint)).toMatchObject(
    refusedAs("invalid_request"),
  );
  expect(await register("none", (await storedCheckpoint()).checkpoint)).toMatchObject(
    refusedAs("model_not_found"),
  );
});

test("a run registers only checkpoints of its trial", async () => {
  const model = await newModel();
  const { checkpoint, trial } = await storedCheckpoint();
  const refused = await register(model, checkpoint, { onlyTrial: "1.999" });
  expect(refused).toMatchObject(refusedAs("not_your_run"));
  expect(await register(model, checkpoint, { onlyTrial: trial })).toMatchObject(accepted(1));
});

test("a condemned checkpoint can become a version once it is spared", async () => {
  const model = await newModel();
  const { checkpoint } = await storedCheckpoint();
  const condemned: AnyEvent = {
    type: "CheckpointCondemned",
    data: {
      competitors: [],
      referencesChecked: [],
      graceEndMs: 1,
      experiment: "1",
      by: "",
      reason: "",
    },
  };
  const spared: AnyEvent = { type: "CheckpointSpared", data: { reason: "a person" } };
  await registry.stage.tell(`retention-${checkpoint}`, condemned);
  expect(await register(model, checkpoint)).toMatchObject({
    kind: "rejected",
    rejection: {
      rejected: "checkpoint_condemned",
      detail: `checkpoint ${checkpoint} will be deleted: undo that first with yard checkpoint undelete`,
    },
  });
  await registry.stage.tell(`retention-${checkpoint}`, spared);
  expect(await register(model, checkpoint)).toMatchObject(accepted(1));
});

test("an alias is moved to a version by its number, semantic version or another alias", async () => {
  const model = await newModel();
  const [one, two] = [await storedCheckpoint(), await storedCheckpoint()];
  await register(model, one.checkpoint);
  await register(model, two.checkpoint, { semanticVersion: "2.0.0" });
  const move = (alias: string, version: string) =>
    registry.stage.ask("registry", "MoveAlias", { model, alias, version, reason: "r" });
  expect(await move("champion", "1")).toMatchObject(accepted(1));
  expect(await move("champion", "2.0.0")).toMatchObject(accepted(2));
  expect(await move("challenger", "champion")).toMatchObject(accepted(2));
  expect(await move("3", "champion")).toMatchObject(refusedAs("invalid_request"));
  expect(await remove(model, "2")).toMatchObject(refusedAs("version_in_use"));
});
