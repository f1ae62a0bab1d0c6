/**
 * The database is restored to an earlier copy while runs of the lost history still have reports and lines that nobody
 * has accepted, on their host. Afterwards a new experiment gets the number of the lost one.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";
import { dataFolder } from "./restored-log.ts";
import { endOf, submitCommand } from "./scenarios/scenario.ts";

const stepMs = 200;
/** The steps of the two trials: one ends while the database is away, the other lives at the restore. */
const steps = [40, 600];
const [lostLoss, ownLoss] = [42, 7];

/** Returns a sentence for each violation; none if the new runs have exactly what they reported and wrote themselves. */
export async function lostRuns(log: (line: string) => void): Promise<readonly string[]> {
  await using world = await World.start({ processes: true, slots: 2, restart: false });
  await endOf(world, await submitCommand(world, "kept", "true"));
  await world.down();
  const data = dataFolder(world);
  const copy = join(world.folder, "copy-of-the-database");
  execFileSync("cp", ["-a", data, copy]);
  await world.up();
  const lost = await submitted(world, lostLoss, steps);
  await world.untilTrials(lost, (trials) =>
    trials.every(({ stepsCompleted }) => stepsCompleted >= 5),
  );
  await world.kill("postgres");
  log("the database is away, and the first of the lost runs ends");
  await delay((steps[0] ?? 0) * stepMs + 5_000);
  await world.down();
  execFileSync("rm", ["-rf", data]);
  execFileSync("cp", ["-a", copy, data]);
  await world.up();
  const own = await submitted(world, ownLoss, [30]);
  const found = own === lost ? [] : [`the new experiment is ${own}, not ${lost}`];
  const state = await endOf(world, own);
  if (state !== "COMPLETED") found.push(`the new experiment is ${state}`);
  const trial = `${own}.1`;
  const wanted = Array.from({ length: 30 }, (_, n) => `loss ${ownLoss} at step ${n + 1}`);
  await eventually("the new run has its own lines", async () => {
    const lines = (await world.logs(trial)).match(/loss \d+ at step \d+/g) ?? [];
    return JSON.stringify(lines) === JSON.stringify(wanted);
  }).catch((error: unknown) => found.push(String(error)));
  const page = await world.client.call("listTrialMetrics", { trial, pageSize: 1_000 });
  const losses = page.items.map(({ metrics }) => metrics?.["loss"]);
  if (losses.length !== 36 || losses.some((loss) => loss !== ownLoss)) {
    found.push(`the new run has the losses ${losses.join(", ")}`);
  }
  const { items } = await world.client.call("listTrials", { experiment: own, pageSize: 100 });
  if (items.length !== 1 || items[0]?.bestValue !== ownLoss) {
    found.push(`the best of the new experiment is ${items.map((one) => one.bestValue).join(", ")}`);
  }
  return found;
}

function submitted(world: World, loss: number, of: readonly number[]): Promise<string> {
  const config = `
name: loss ${loss}
entrypoint: python3 train.py
environment: { environment_variables: ["LOSS=${loss}"] }
hyperparameters: { steps: { type: categorical, vals: [${of.join(", ")}] } }
searcher: { name: grid, metric: loss }
max_restarts: 0`;
  return world.submit(config, world.code("constant"));
}
