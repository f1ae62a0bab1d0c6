/**
 * The metrics service is away for longer than the grace of condemned checkpoints, while a trial validates and stores
 * checkpoints. The best one has no value meanwhile, and must still be there afterwards.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { untilOver } from "../chaos/search-under-test.ts";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

export type LateValues = {
  readonly awayMs: number;
  /** The steps end after the outage, and each stores a checkpoint. */
  readonly steps: number;
  readonly stepSeconds: number;
  readonly log: (line: string) => void;
};

/** Returns a sentence for each violation; none if the best and the latest checkpoint, and no other, are left. */
export async function lateValues(options: LateValues): Promise<readonly string[]> {
  const { awayMs, steps, stepSeconds, log } = options;
  await using world = await World.start({ processes: true, slots: 1, restart: false });
  await world.kill("metrics");
  const config = `
name: late-values
entrypoint: python3 train.py
searcher: { name: single, metric: loss, smaller_is_better: true }
max_restarts: 0
environment:
  environment_variables: [ STEPS=${steps}, STEP_SECONDS=${stepSeconds} ]
`;
  const id = await world.submit(config, world.code("worse"));
  log(`metrics is away for ${awayMs / 1_000} s`);
  await delay(awayMs);
  const said = await world.yard("cluster", "restart", "metrics");
  if (said.code !== 0) return [`metrics could not be started again: ${said.err}`];
  await untilOver(world.client, id, 900_000);
  const trial = `${id}.1`;
  const left = async (): Promise<readonly { readonly uuid: string; readonly step: number }[]> => {
    const { items } = await world.client.call("listCheckpoints", { trial, pageSize: 100 });
    const complete = items.filter(({ state }) => state === "COMPLETED");
    return complete.map(({ uuid, stepsCompleted: step }) => ({ uuid, step }));
  };
  const found: string[] = [];
  const isThinned = async (): Promise<boolean> => (await left()).length <= 2;
  await eventually("the others are deleted", isThinned, 900_000).catch((error: unknown) => {
    found.push(String(error));
  });
  const kept = await left();
  log(`the checkpoints of the steps ${kept.map(({ step }) => step).join(", ")} are left`);
  for (const step of [1, steps]) {
    const uuid = kept.find((one) => one.step === step)?.uuid;
    if (uuid === undefined) found.push(`the checkpoint of step ${step} is gone`);
    else found.push(...(await downloadViolations(world, uuid, step)));
  }
  return found.map((violation) => `late values: ${violation}`);
}

async function downloadViolations(
  world: World,
  uuid: string,
  step: number,
): Promise<readonly string[]> {
  const folder = `download-${uuid}`;
  const said = await world.yard("checkpoint", "download", uuid, folder);
  if (said.code !== 0) return [`checkpoint ${uuid} of step ${step}: ${said.err}`];
  const weights = readFileSync(join(world.folder, folder, "weights"), "utf8");
  return weights === `the weights of step ${step}` ? [] : [`step ${step} has ${weights}`];
}
