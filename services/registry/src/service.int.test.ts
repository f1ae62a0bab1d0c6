import { rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { entry, runEnded, runRequested, TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;
const soon = { timeout: 90_000, interval: 100 };

beforeAll(async () => {
  registry = await TestRegistry.start();
});
afterAll(() => registry[Symbol.asyncDispose]());

const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });

describe("a checkpoint", () => {
  test("is declared, written, completed, and then may be restored from", async () => {
    const trial = await registry.newTrial();
    const { checkpoint, answer } = await registry.declare(trial);
    const path = join(registry.storage, checkpoint);
    expect(answer).toMatchObject({ kind: "ok", reply: { checkpoint, path } });
    expect(await registry.plan(checkpoint)).toMatchObject(rejectedAs("checkpoint_not_complete"));
    const manifest = await registry.write(checkpoint, {
      "a/weights": "www",
      "metadata.json": "{}",
    });
    expect(await registry.complete(checkpoint, trial, manifest)).toMatchObject({ kind: "ok" });
    const [, completed] = await registry.stage.events(`checkpoint-${checkpoint}`);
    expect(completed).toMatchObject({
      type: "CheckpointCompleted",
      data: { files: 2, bytes: 5, trial, run: 1, step: 10 },
    });
    expect(await registry.plan(checkpoint)).toEqual({
      kind: "ok",
      reply: {
        checkpoint,
        path,
        store: "",
        manifest,
        metadata: { steps_completed: 10 },
        storageId: registry.storageId,
      },
    });
  });

  test("declared and completed again gets the same answers, and no new events", async () => {
    const trial = await registry.newTrial();
    const { checkpoint, manifest } = await registry.stored(trial);
    const repeated = await registry.declare(trial, 1, checkpoint);
    expect(repeated.answer).toMatchObject({ kind: "ok" });
    const reversed = manifest.toReversed();
    expect(await registry.complete(checkpoint, trial, reversed)).toMatchObject({ kind: "ok" });
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
  });

  test("records the last validation that the run names, and refuses one that is not a report's key", async () => {
    const trial = await registry.newTrial();
    const named = await registry.declareIn({ trial, lastValidation: "0-17" });
    const [declared] = await registry.stage.events(`checkpoint-${named.checkpoint}`);
    expect(declared?.data).toMatchObject({ lastValidation: "0-17" });
    const { answer } = await registry.declareIn({ trial, lastValidation: "the last one" });
    expect(answer).toMatchObject(rejectedAs("invalid_checkpoint"));
  });

  test("with too long metadata is refused with advice", async () => {
    const trial = await registry.newTrial();
    const refused = async (more: Parameters<TestRegistry["declare"]>[4]) =>
      (await registry.declare(trial, 1, undefined, 10, more)).answer;
    // 30,000 of the character take 90,000 bytes.
    expect(await refused({ metadata: { notes: "界".repeat(30_000) } })).toMatchObject({
      rejection: { detail: expect.stringMatching(/has 90012 bytes as JSON .* into a file/) },
    });
    expect(await refused({ format: "x".repeat(256) })).toMatchObject({
      rejection: { detail: expect.stringMatching(/format has 256 characters/) },
    });
    expect(await refused({ metadata: { notes: "界".repeat(20_000) } })).toMatchObject({
      kind: "ok",
    });
  });

  test("completed twice at the same time is recorded once", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    const answers = await Promise.all(
      [1, 2, 3].map(() => registry.complete(checkpoint, trial, manifest)),
    );
    expect(answers.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok"]);
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointCompleted"]);
  });

  test("waits while a file is short, fails when a file has other content, naming it, and is never restored from", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "0123456789", small: "s" });
    await truncate(join(registry.storage, checkpoint, "weights"), 4);
    // A host may cache the size of a file that another host has just written.
    const short = await registry.complete(checkpoint, trial, manifest);
    expect(short).toEqual({ kind: "unavailable" });
    await registry.write(checkpoint, { weights: "012345678x", small: "s" });
    const answer = await registry.complete(checkpoint, trial, manifest);
    expect(answer).toMatchObject(rejectedAs("checkpoint_incomplete"));
    expect(answer).toMatchObject({ rejection: { problems: [{ path: "weights" }] } });
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointFailed"]);
    // A failed checkpoint stays failed when its file becomes whole: its writer must choose another id.
    await registry.write(checkpoint, { weights: "0123456789", small: "s" });
    const again = await registry.complete(checkpoint, trial, manifest);
    expect(again).toMatchObject(rejectedAs("checkpoint_failed"));
    expect(await registry.plan(checkpoint)).toMatchObject(rejectedAs("checkpoint_not_complete"));
  });

  test("that failed has its files cleared", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    await registry.complete(checkpoint, trial, [entry("weights", "x")]);
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
  });

  test("with a path outside its folder is refused, and stays declared", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await writeFile(join(registry.storage, "secret"), "s");
    const answer = await registry.complete(checkpoint, trial, [entry("../secret", "s")]);
    expect(answer).toMatchObject(rejectedAs("invalid_manifest"));
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared"]);
  });

  test("waits while its storage is unavailable", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    await rename(registry.storage, `${registry.storage}.away`);
    const away = await registry.complete(checkpoint, trial, manifest);
    await rename(`${registry.storage}.away`, registry.storage);
    expect(away).toEqual({ kind: "unavailable" });
    expect(await registry.complete(checkpoint, trial, manifest)).toMatchObject({ kind: "ok" });
  });
});

describe("the right to write", () => {
  test("belongs only to the newest run, until it ends", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    await registry.stage.tell(`trial-${trial}`, runEnded(1), runRequested(2));
    // The checkpoint may or may not be abandoned by then: the order is a matter of milliseconds.
    const late = await registry.complete(checkpoint, trial, manifest);
    expect(["run_superseded", "checkpoint_abandoned"]).toContain(
      late.kind === "rejected" ? late.rejection.rejected : late.kind,
    );
    expect((await registry.declare(trial, 1)).answer).toMatchObject(rejectedAs("run_superseded"));
    expect((await registry.declare(trial, 3)).answer).toMatchObject(rejectedAs("run_not_found"));
    expect((await registry.declare(trial, 2)).answer).toMatchObject({ kind: "ok" });
    await registry.stage.tell(`trial-${trial}`, runEnded(2));
    expect((await registry.declare(trial, 2)).answer).toMatchObject(rejectedAs("run_ended"));
  });

  test("is refused to an unknown run", async () => {
    const { answer } = await registry.declare("9.9");
    expect(answer).toMatchObject(rejectedAs("trial_not_found"));
  });

  test("to a checkpoint belongs only to its run", async () => {
    const [mine, other] = [await registry.newTrial(), await registry.newTrial()];
    const { checkpoint } = await registry.declare(mine);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    const answer = await registry.complete(checkpoint, other, manifest);
    expect(answer).toMatchObject(rejectedAs("not_your_run"));
  });

  test("does not extend to an id of another run", async () => {
    const [mine, other] = [await registry.newTrial(), await registry.newTrial()];
    const { checkpoint } = await registry.declare(mine);
    const { answer } = await registry.declare(other, 1, checkpoint);
    expect(answer).toMatchObject(rejectedAs("checkpoint_exists"));
  });

  test.each([
    ["a path as the id", "../../etc", 1],
    ["a UUID in capitals as the id", "00000000-0000-4000-8000-00000000000A", 1],
    ["a negative step", "00000000-0000-4000-8000-00000000000a", -1],
  ])("is refused with %s", async (_, checkpoint, step) => {
    const trial = await registry.newTrial();
    const { answer } = await registry.declare(trial, 1, checkpoint, step);
    expect(answer).toMatchObject(rejectedAs("invalid_checkpoint"));
  });
});

describe("a checkpoint that a run leaves unfinished", () => {
  test("is abandoned and cleared when the run ends, and complete ones stay", async () => {
    const trial = await registry.newTrial();
    const complete = await registry.stored(trial);
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    await registry.stage.tell(`trial-${trial}`, runEnded(1));
    await vi.waitFor(async () => {
      expect(await registry.names(checkpoint)).toEqual([
        "CheckpointDeclared",
        "CheckpointAbandoned",
      ]);
      expect(registry.has(checkpoint)).toBe(false);
    }, soon);
    expect(registry.has(complete.checkpoint, "weights")).toBe(true);
    expect(await registry.plan(complete.checkpoint)).toMatchObject({ kind: "ok" });
  });

  test("is abandoned also after the registry was down or lost its table", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    await registry.service[Symbol.asyncDispose]();
    await registry.stage.sql("truncate registry.unfinished, registry.view_cursor");
    await registry.stage.tell(`trial-${trial}`, runEnded(1));
    await registry.restart();
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared", "CheckpointAbandoned"]);
  });
});

describe("verification", () => {
  const name = "registry.unfinished";
  const holds = { [name]: "", "registry.placed": "" };

  test("succeeds after failed checkpoints are cleared, and detects an altered row", async () => {
    const trial = await registry.newTrial();
    const { checkpoint: failed } = await registry.declare(trial);
    await registry.write(failed, { weights: "w" });
    await registry.complete(failed, trial, [entry("weights", "x")]);
    await vi.waitFor(() => expect(registry.has(failed)).toBe(false), soon);
    const { checkpoint } = await registry.declare(trial);
    const rows = async () =>
      (await registry.stage.sql("select checkpoint from registry.unfinished")).map(
        (row) => row["checkpoint"],
      );
    await vi.waitFor(async () => expect(await rows()).toContain(checkpoint), soon);
    expect(await rows()).not.toContain(failed);
    expect(await registry.stage.verify()).toEqual(holds);
    const of = `where checkpoint = '${checkpoint}'`;
    await registry.stage.sql(`update registry.unfinished set run = 7 ${of}`);
    expect((await registry.stage.verify())[name]).toBe(
      `the first row that differs is unfinished (checkpoint "${checkpoint}"): run is 7, but a rebuild has 1`,
    );
    await registry.stage.sql(`delete from registry.unfinished ${of}`);
    expect((await registry.stage.verify())[name]).toContain(`"${checkpoint}"): it is missing`);
    await registry.stage.sql("truncate registry.unfinished, registry.view_cursor");
    await registry.restart();
    await vi.waitFor(async () => expect(await registry.stage.verify()).toEqual(holds), soon);
  });

  test("succeeds after a requested rebuild of the view, which is listed", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const listed = async () => {
      const answer = await registry.stage.ask("common", "ListViews", {});
      return answer.kind === "ok" ? answer.reply.views : [];
    };
    await vi.waitFor(
      async () =>
        expect(await listed()).toMatchObject([
          { view: "unfinished", lag: 0 },
          { view: "placed", lag: 0 },
        ]),
      soon,
    );
    await registry.stage.sql(`delete from registry.unfinished where checkpoint = '${checkpoint}'`);
    const rebuild = (view: string) => registry.stage.ask("common", "RebuildView", { view });
    expect(await rebuild("nothing")).toMatchObject(rejectedAs("view_not_found"));
    expect(await rebuild("unfinished")).toMatchObject({ kind: "ok" });
    await vi.waitFor(async () => expect(await registry.stage.verify()).toEqual(holds), soon);
  });

  test("succeeds during concurrent writes", async () => {
    const trial = await registry.newTrial();
    const found: unknown[] = [];
    let over = false;
    const writing = (async () => {
      while (!over) await registry.stored(trial);
    })();
    try {
      while (found.length < 5) found.push(await registry.stage.verify());
    } finally {
      over = true;
      await writing;
    }
    expect(found).toEqual(Array.from({ length: 5 }, () => holds));
  });
});

describe("a deleted checkpoint", () => {
  test("cannot be restored from", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.stored(trial);
    expect(await registry.plan(checkpoint)).toMatchObject({ kind: "ok" });
    await registry.stage.tell(`retention-${checkpoint}`, {
      type: "CheckpointDeletionStarted",
      data: {},
    });
    expect(await registry.plan(checkpoint)).toMatchObject(rejectedAs("checkpoint_deleted"));
  });
});

test("a manifest of many files is stored and returned whole", async () => {
  const trial = await registry.newTrial();
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [`part-${String(n).padStart(4, "0")}`, `${n}`]),
  );
  const { checkpoint, answer } = await registry.stored(
    trial,
    files as unknown as Parameters<TestRegistry["stored"]>[1],
  );
  expect(answer).toMatchObject({ kind: "ok" });
  const plan = await registry.plan(checkpoint);
  expect(plan.kind === "ok" && plan.reply.manifest.length).toBe(300);
});

test("an experiment without a checkpoint storage uses a folder in the default storage", async () => {
  await registry.stage.tell("trial-2.1", runRequested(1));
  const { checkpoint, answer } = await registry.declare("2.1");
  const path = join(registry.folder, "default", checkpoint);
  expect(answer).toMatchObject({ kind: "ok", reply: { path } });
});
