/** Tests PyTorch on an embedded cluster: a training class on as many slots as the configuration says. */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../scripts/lib/root.ts";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { eventually } from "../world/eventually.ts";
import { needTorch } from "../world/torch.ts";
import { lossesOf, submitTraining, type Training, weightsOf } from "../world/torch-run.ts";
import { World } from "../world/world.ts";

const slowMs = 600_000;
const images = join(root, "examples", "pytorch-images");

async function untilDone(world: World, trial: string): Promise<void> {
  const said = await world.yard("e", "wait", trial.split(".")[0] ?? "");
  if (said.code === 0) return;
  throw new Error(`${said.out}${said.err}${(await world.yard("trial", "logs", trial)).out}`);
}

function expectNear(ours: readonly number[], theirs: readonly number[], relative: number): void {
  expect(ours.length).toBe(theirs.length);
  const far = ours.filter((loss, n) => {
    const other = theirs[n] ?? Number.NaN;
    return !(Math.abs(loss - other) <= relative * Math.abs(other));
  });
  expect(far).toEqual([]);
}

describe("on two agents of two slots", () => {
  let world: World | null = null;
  /** The id of an undisturbed training in four processes, run once for all tests. */
  let undisturbed: Promise<string> | undefined;

  beforeAll(async () => {
    // No cluster is started if all tests are skipped.
    if (pythonEnvironment().python === null) return;
    world = await World.start({ agents: 2, slots: 2, python: true });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const cluster = (): World => {
    if (world === null) throw new Error("there is no cluster");
    return world;
  };
  const fourProcesses: Training = { slots: 4, batchSize: 16, batches: 40 };
  const trained = async (training: Training): Promise<string> => {
    const trial = await submitTraining(cluster(), training);
    await untilDone(cluster(), trial);
    return trial;
  };
  const undisturbedTrial = (): Promise<string> => (undisturbed ??= trained(fourProcesses));

  test("an example trains on the four slots of both", { timeout: slowMs }, async ({ skip }) => {
    needTorch(skip);
    const config = readFileSync(join(images, "ddp.yaml"), "utf8")
      .replace(/pictures: \d+/, "pictures: 512")
      .replace(/epochs: \d+/, "epochs: 2");
    const id = await cluster().submit(config, images);
    await untilDone(cluster(), `${id}.1`);
    const trial = await cluster().client.call("getTrial", { trial: `${id}.1` });
    // The run trains 512 pictures twice, in batches of 8 on each of four slots.
    expect(trial).toMatchObject({ state: "COMPLETED", stepsCompleted: 32, restarts: 0 });
  });

  test("one process with batches of 64 and four with 16 have the same losses", {
    timeout: slowMs,
  }, async ({ skip }) => {
    needTorch(skip);
    const alone = await trained({ slots: 1, batchSize: 64, batches: 40 });
    const wide = await undisturbedTrial();
    const losses = await lossesOf(cluster(), alone);
    expect(losses.length).toBe(40);
    expect(losses.at(-1)).toBeLessThan(losses[0] ?? 0);
    expectNear(await lossesOf(cluster(), wide), losses, 1e-4);
    // All four processes must have the same weights.
    expect(await weightsOf(cluster(), wide)).toEqual([
      expect.stringMatching(/^after 40 batches the weights are /),
    ]);
  });

  test("a training that was paused and activated ends with the weights of an undisturbed one", {
    timeout: slowMs,
  }, async ({ skip }) => {
    needTorch(skip);
    const calm = await undisturbedTrial();
    const trial = await submitTraining(cluster(), { ...fourProcesses, batchSeconds: 0.4 });
    const [experiment = ""] = trial.split(".");
    await eventually("it has trained a while", async () => {
      return (await cluster().client.call("getTrial", { trial })).stepsCompleted >= 5;
    });
    expect((await cluster().yard("e", "pause", experiment)).code).toBe(0);
    await eventually("it is paused", async () => {
      return (await cluster().client.call("getTrial", { trial })).state === "PAUSED";
    });
    expect((await cluster().yard("e", "activate", experiment)).code).toBe(0);
    await untilDone(cluster(), trial);
    const { restarts, runs } = await cluster().client.call("getTrial", { trial });
    // A pause costs no restart.
    expect(runs.map(({ whyEnded, message }) => `${whyEnded}: ${message}`)).toEqual([
      "acknowledged_stop: pause",
      "finished: ",
    ]);
    expect(restarts).toBe(0);
    expect(await weightsOf(cluster(), trial)).toEqual(await weightsOf(cluster(), calm));
    expect(await lossesOf(cluster(), trial)).toEqual(await lossesOf(cluster(), calm));
  });
});
