/** A training of ./code/ddp.py on an embedded cluster, and its results: the loss of each batch, and the weights. */
import type { World } from "./world.ts";

export type Training = {
  readonly slots: number;
  /** The number of samples per slot and batch. */
  readonly batchSize: number;
  readonly batches: number;
  readonly checkpointBatches?: number;
  readonly batchSeconds?: number;
};

/** Submits the training, always with the same seed; returns the trial's id. */
export async function submitTraining(world: World, training: Training): Promise<string> {
  const { slots, batchSize, batches, checkpointBatches = 10, batchSeconds = 0 } = training;
  const experiment = await world.submit(
    `
name: ddp
entrypoint: python3 -m trainyard.launch.torch train.py
hyperparameters:
  batch_size: ${batchSize}
  batches: ${batches}
  checkpoint_batches: ${checkpointBatches}
  batch_seconds: ${batchSeconds}
searcher: { name: single, metric: validation_loss }
resources: { slots_per_trial: ${slots} }
max_restarts: 20
reproducibility: { experiment_seed: 7 }
`,
    world.code("ddp"),
  );
  return `${experiment}.1`;
}

/** The training loss by batch. */
export async function lossesOf(world: World, trial: string): Promise<readonly number[]> {
  const losses: number[] = [];
  let pageToken = "";
  do {
    const page = await world.client.call("listTrialMetrics", {
      trial,
      group: "training",
      pageSize: 500,
      pageToken,
    });
    for (const { stepsCompleted, metrics } of page.items) {
      losses[stepsCompleted - 1] = Number(metrics?.["loss"]);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return losses;
}

/** The lines in which the last run's processes print their weights, without repetitions; one line if all are equal. */
export async function weightsOf(world: World, trial: string): Promise<readonly string[]> {
  const out = await world.logs(trial);
  const said = [...out.matchAll(/after \d+ batches the weights are [0-9a-f]{64}/g)];
  const last = said.at(-1)?.[0] ?? "";
  const batches = last.slice(0, last.indexOf(" batches"));
  return [...new Set(said.map(([line]) => line).filter((line) => line.startsWith(batches)))];
}
