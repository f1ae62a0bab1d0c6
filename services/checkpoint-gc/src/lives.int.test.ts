/** Tests of what people do with checkpoints: pin them, delete them, undo a deletion, set policies. */
import { randomUUID } from "node:crypto";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  damaged,
  declared,
  pinned,
  proposed,
  runRequested,
  trialCreated,
  unpinned,
  uploaded,
} from "./testing/events.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const condemned = ["CheckpointCondemned"];
const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];
const rejectedAs = (rejected: string) => ({ kind: "rejected", rejection: { rejected } });

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);
/** Repeats the request until the service answers, since the service may have just started. */
const ask: typeof gc.stage.ask = (...asked) => vi.waitFor(() => gc.stage.ask(...asked), soon);
const remove = (checkpoint: string | undefined, ...globs: readonly string[]) =>
  ask("checkpoint-gc", "DeleteCheckpoint", {
    checkpoint: checkpoint ?? "",
    reason: "too large",
    globs,
  });
const explain = async (experiment: string, more: object = {}) => {
  const message = { experiment, checkpoint: "", limit: 0, after: "", ...more };
  const answer = await ask("checkpoint-gc", "ExplainRetention", message);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return answer.reply;
};
const setPolicy = (experiment: string, best: number, trialBest: number, latest: number) =>
  ask("checkpoint-gc", "SetRetentionPolicy", {
    experiment,
    reason: "",
    policy: { saveExperimentBest: best, saveTrialBest: trialBest, saveTrialLatest: latest },
  });

describe("a person who deletes a checkpoint", () => {
  test("removes one that the policy keeps, after the grace, with the person and the reason in the log", async () => {
    await gc.start(1);
    const { experiment, checkpoints } = await gc.trained([9, 9, 9], [3, 1]);
    await gc.endExperiment(experiment);
    expect(await remove(checkpoints[1])).toMatchObject({ kind: "ok" });
    await becomes(checkpoints[1], deleted);
    const [event] = await gc.stage.events(`retention-${checkpoints[1]}`);
    expect(event?.data).toMatchObject({ by: "stage", reason: "too large", experiment });
    expect(event?.data).not.toHaveProperty("policy");
    expect(gc.has(checkpoints[1] ?? "")).toBe(false);
    expect(await gc.retention(checkpoints[0] ?? "")).toEqual([]);
    expect(await remove(checkpoints[1])).toMatchObject(rejectedAs("checkpoint_deleted"));
  });

  test.each(["nonsense", "../../etc", "", "\u0000", randomUUID()])(
    "of the unknown id %j gets checkpoint_not_found",
    async (id) => {
      await gc.start(0);
      expect(await remove(id)).toMatchObject(rejectedAs("checkpoint_not_found"));
    },
  );

  test("that is pinned, registered, restored from, or the latest of a live trial, is refused", async () => {
    await gc.start(0);
    const { checkpoints } = await gc.trained([9, 9, 9], [3, 2, 1]);
    const [mine, version, restored] = checkpoints;
    await gc.stage.tell(`checkpoint-${mine}`, pinned("ada"));
    await gc.stage.tell(`checkpoint-${version}`, pinned("ada", "model-version:m/3"));
    const other = `${await gc.experiment([0, 1, 1])}.1`;
    await gc.stage.tell(`trial-${other}`, runRequested(1, restored));
    const live = `${await gc.experiment([0, 1, 1])}.1`;
    await gc.trial(live);
    const latest = await gc.checkpoint(live, 1, 1);
    for (const [checkpoint, because] of [
      [mine, "ada pinned it"],
      [version, "version 3 of model m uses it"],
      [restored, `run ${other}#1 starts from it`],
      [latest, `trial ${live} continues from it`],
    ] as const) {
      const answer = await remove(checkpoint);
      expect(answer).toMatchObject(rejectedAs("checkpoint_needed"));
      expect(JSON.stringify(answer)).toContain(because);
      expect(await remove(checkpoint, "**")).toMatchObject(rejectedAs("checkpoint_needed"));
      expect(await gc.retention(checkpoint ?? "")).toEqual([]);
    }
  });

  test("that was uploaded from a folder is refused only while a version or a run keeps it; no policy judges it", async () => {
    await gc.start(0);
    const id = randomUUID();
    await mkdir(join(gc.root, id), { recursive: true });
    await writeFile(join(gc.root, id, "weights"), "www");
    await gc.stage.tell(`checkpoint-${id}`, ...uploaded("ada", gc.root, gc.storageId));
    const version = "model-version:m/1";
    await gc.stage.tell(`checkpoint-${id}`, pinned("ada", version));
    await gc.settled();
    expect(await gc.retention(id)).toEqual([]);
    const held = await remove(id);
    expect(held).toMatchObject(rejectedAs("checkpoint_needed"));
    expect(JSON.stringify(held)).toContain("version 1 of model m uses it");
    await gc.stage.tell(`checkpoint-${id}`, unpinned("ada", version));
    const live = `${await gc.experiment([0, 1, 1])}.1`;
    await gc.stage.tell(`trial-${live}`, trialCreated(live, id), runRequested(1, id));
    await gc.settled();
    expect(await gc.retention(id)).toEqual([]);
    expect(JSON.stringify(await remove(id))).toContain(`run ${live}#1 starts from it`);
    await gc.endTrial(live);
    const { verdicts } = await explain("", { checkpoint: id });
    const why = "it was uploaded from a folder: only a person deletes it";
    expect(verdicts).toMatchObject([{ checkpoint: id, trial: "", keeps: true, keptBy: [why] }]);
    expect(await remove(id)).toMatchObject({ kind: "ok" });
    await becomes(id, deleted);
    expect(gc.has(id)).toBe(false);
  });

  test("that was never complete is refused", async () => {
    await gc.start(0);
    const id = randomUUID();
    await gc.stage.tell(`checkpoint-${id}`, declared("1.1", 9, gc.root));
    expect(await remove(id)).toMatchObject(rejectedAs("checkpoint_not_complete"));
  });

  test("loses the deletion at once to a pin", async () => {
    await gc.start(600);
    const { experiment, checkpoints } = await gc.trained([0, 0, 1], [3, 1]);
    await gc.endExperiment(experiment);
    await becomes(checkpoints[0], condemned);
    await gc.stage.tell(`checkpoint-${checkpoints[0]}`, pinned("ada"));
    await becomes(checkpoints[0], [...condemned, "CheckpointSpared"]);
    await gc.stage.tell(`checkpoint-${checkpoints[0]}`, unpinned("ada"));
    await becomes(checkpoints[0], [...condemned, "CheckpointSpared", ...condemned]);
    expect(gc.has(checkpoints[0] ?? "")).toBe(true);
  });
});

describe("a person who deletes some files of a checkpoint", () => {
  test("removes them at once, a link only as itself, and the checkpoint no longer competes", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 1], [3, 1]);
    const [, latest = ""] = checkpoints;
    const outside = join(gc.root, "outside");
    await writeFile(outside, "not mine");
    await mkdir(join(gc.root, latest, "odd\nname"));
    await writeFile(join(gc.root, latest, "odd\nname", "x"), "x");
    await symlink(outside, join(gc.root, latest, "deep", "link"));
    expect(await remove(latest, "deep/**", "odd*/*")).toMatchObject({ kind: "ok" });
    await becomes(latest, ["CheckpointFilesDeletionStarted", "CheckpointFilesDeleted"]);
    const events = await gc.stage.events(`retention-${latest}`);
    expect(events[0]?.data).toMatchObject({ by: "stage", globs: ["deep/**", "odd*/*"] });
    expect(events[1]?.data).toMatchObject({ files: 3 });
    expect(existsSync(join(gc.root, latest, "deep", "weights"))).toBe(false);
    expect(existsSync(join(gc.root, latest, "metadata.json"))).toBe(true);
    expect(existsSync(outside)).toBe(true);
    // The first checkpoint is the latest whole one, so the policy keeps it.
    await gc.endExperiment(experiment);
    await gc.settled();
    expect(await gc.retention(checkpoints[0] ?? "")).toEqual([]);
  });

  test.each(["../x", "/etc/*", "", "a/../../b"])("by the pattern %j is refused", async (glob) => {
    await gc.start(0);
    const { checkpoints } = await gc.trained([9, 9, 9], [1]);
    expect(await remove(checkpoints[0], glob)).toMatchObject(rejectedAs("invalid_request"));
    expect(gc.has(checkpoints[0] ?? "")).toBe(true);
  });

  test("by a pattern that matches nothing removes no file", async () => {
    await gc.start(0);
    const { checkpoints } = await gc.trained([9, 9, 9], [1]);
    expect(await remove(checkpoints[0], "nothing/*")).toMatchObject({ kind: "ok" });
    await becomes(checkpoints[0], ["CheckpointFilesDeletionStarted", "CheckpointFilesDeleted"]);
    const events = await gc.stage.events(`retention-${checkpoints[0]}`);
    expect(events[1]?.data).toEqual({ files: 0, bytes: 0 });
  });
});

describe("the retention policy of an ended experiment", () => {
  test("can be changed: the new policy condemns the checkpoints that it gives up", async () => {
    await gc.start(600);
    const { experiment, checkpoints } = await gc.trained([9, 9, 9], [3, 1, 2]);
    await gc.endExperiment(experiment);
    await gc.settled();
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual([]);
    expect(await setPolicy(experiment, 1, 0, 0)).toMatchObject({ kind: "ok" });
    await becomes(checkpoints[0], condemned);
    await becomes(checkpoints[2], condemned);
    const [event] = await gc.stage.events(`retention-${checkpoints[2]}`);
    expect(event?.data).toMatchObject({
      policy: { saveExperimentBest: 1, saveTrialBest: 0, saveTrialLatest: 0 },
    });
    expect(await gc.retention(checkpoints[1] ?? "")).toEqual([]);
  });

  test("cannot be set if the experiment is unknown", async () => {
    await gc.start(0);
    expect(await setPolicy("987654", 1, 1, 1)).toMatchObject(rejectedAs("experiment_not_found"));
  });
});

describe("the preview of a retention policy", () => {
  test("says what keeps or condemns each checkpoint, and changes nothing", async () => {
    await gc.start(600);
    const { experiment, trial, checkpoints } = await gc.trained([0, 1, 1], [3, 1, 2, 4]);
    await gc.stage.tell(`checkpoint-${checkpoints[0]}`, pinned("ada"));
    const before = await explain(experiment);
    const of = (id: string | undefined) => before.verdicts.find((one) => one.checkpoint === id);
    expect(before.policy).toEqual({ saveExperimentBest: 0, saveTrialBest: 1, saveTrialLatest: 1 });
    expect(before.verdicts).toHaveLength(4);
    expect(of(checkpoints[0])).toMatchObject({ keeps: true, keptBy: ["ada pinned it"], trial });
    expect(of(checkpoints[1])).toMatchObject({
      keeps: true,
      keptBy: ["the best of its trial"],
    });
    expect(of(checkpoints[2])).toMatchObject({ keeps: false, keptBy: [], value: 2 });
    expect(of(checkpoints[3])?.keptBy).toEqual(["the latest of its trial"]);
    await gc.endExperiment(experiment);
    await gc.settled();
    for (const { checkpoint, keeps } of before.verdicts) {
      expect(await gc.retention(checkpoint)).toEqual(keeps ? [] : condemned);
    }
    const after = await explain(experiment, { checkpoint: checkpoints[2] });
    expect(after.verdicts).toMatchObject([{ state: "condemned", keeps: false }]);
    expect(after.verdicts[0]?.graceEndMs).toBeGreaterThan(Date.now());
  });

  test("judges by another policy that the request names, in pages", async () => {
    await gc.start(600);
    const { experiment, checkpoints } = await gc.trained([9, 9, 9], [3, 1, 2]);
    const policy = { saveExperimentBest: 0, saveTrialBest: 0, saveTrialLatest: 1 };
    const first = await explain(experiment, { policy, limit: 2 });
    expect(first).toMatchObject({ more: true, policy });
    const after = first.verdicts.at(-1)?.checkpoint;
    const rest = await explain(experiment, { policy, limit: 2, after });
    expect(rest.more).toBe(false);
    const kept = [...first.verdicts, ...rest.verdicts].filter(({ keeps }) => keeps);
    expect(kept.map(({ checkpoint }) => checkpoint)).toEqual([checkpoints[2]]);
  });

  test("of an unknown experiment is refused", async () => {
    await gc.start(0);
    const message = { experiment: "nope", checkpoint: "", limit: 0, after: "" };
    expect(await ask("checkpoint-gc", "ExplainRetention", message)).toMatchObject(
      rejectedAs("experiment_not_found"),
    );
  });
});

describe("retention", () => {
  test("does not condemn a damaged checkpoint, nor let it compete", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 1], [3, 1]);
    await gc.stage.tell(`checkpoint-${checkpoints[1]}`, damaged("deep/weights"));
    await gc.endExperiment(experiment);
    await gc.settled();
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual([]);
  });

  test("keeps a checkpoint that a proposal names before its trial exists", async () => {
    await gc.start(0);
    const experiment = await gc.experiment([0, 0, 0]);
    const trial = `${experiment}.1`;
    await gc.trial(trial);
    const first = await gc.checkpoint(trial, 1, 1);
    const second = await gc.checkpoint(trial, 2, 2);
    await gc.endTrial(trial);
    await gc.stage.tell(`search-${experiment}`, proposed(2, 1, first), proposed(3, 1));
    expect(await remove(first)).toMatchObject(rejectedAs("checkpoint_needed"));
    expect(await remove(second)).toMatchObject(rejectedAs("checkpoint_needed"));
    await gc.trial(`${experiment}.2`, first);
    await gc.endTrial(`${experiment}.2`);
    expect(await remove(first)).toMatchObject({ kind: "ok" });
    expect(await remove(second)).toMatchObject(rejectedAs("checkpoint_needed"));
  });
});
