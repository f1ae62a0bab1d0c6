/** Tests PyTorch on an embedded cluster: a training class on as many slots as the configuration says. */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { root } from "../../../scripts/lib/root.ts";
import { needTorch } from "../../world/torch.ts";
import { lossesOf, submitTraining, type Training, weightsOf } from "../../world/torch-run.ts";
import { world } from "./cluster.ts";

const slowMs = 600_000;
const images = join(root, "examples", "pytorch-images");

async function untilDone(trial: string): Promise<void> {
  const state = await world.end(trial.split(".")[0] ?? "");
  if (state === "COMPLETED") return;
  throw new Error(`${trial} is ${state}\n${await world.logs(trial)}`);
}

function expectNear(ours: readonly number[], theirs: readonly number[], relative: number): void {
  expect(ours.length).toBe(theirs.length);
  const far = ours.filter((loss, n) => {
    const other = theirs[n] ?? Number.NaN;
    return !(Math.abs(loss - other) <= relative * Math.abs(other));
  });
  expect(far).toEqual([]);
}

async function trained(training: Training): Promise<string> {
  const trial = await submitTraining(world, training);
  await untilDone(trial);
  return trial;
}

test("an example trains on the four slots of both", { timeout: slowMs }, async ({ skip }) => {
  needTorch(skip);
  const config = readFileSync(join(images, "ddp.yaml"), "utf8")
    .replace(/pictures: \d+/, "pictures: 512")
    .replace(/epochs: \d+/, "epochs: 2");
  const id = await world.submit(config, images);
  await untilDone(`${id}.1`);
  const trial = await world.client.call("getTrial", { trial: `${id}.1` });
  // The run trains 512 pictures twice, in batches of 8 on each of four slots.
  expect(trial).toMatchObject({ state: "COMPLETED", stepsCompleted: 32, restarts: 0 });
});

test("one process with batches of 64 and four with 16 have the same losses", {
  timeout: slowMs,
}, async ({ skip }) => {
  needTorch(skip);
  // An epoch has 16 batches.
  const batches = 24;
  const alone = await trained({ slots: 1, batchSize: 64, batches });
  const wide = await trained({ slots: 4, batchSize: 16, batches });
  const losses = await lossesOf(world, alone);
  expect(losses.length).toBe(batches);
  expect(losses.at(-1)).toBeLessThan(losses[0] ?? 0);
  expectNear(await lossesOf(world, wide), losses, 1e-4);
  // All four processes must have the same weights.
  expect(await weightsOf(world, wide)).toEqual([
    expect.stringMatching(`^after ${batches} batches the weights are `),
  ]);
});
