/** A run stores its last checkpoint and ends while a part of the platform is away for longer than every timeout. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { Checkpoint } from "@trainyard/contracts/api";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

/** Longer than anything that the end of a run waits for. */
const awayMs = 40_000;

export type Farewell = {
  readonly state: string;
  readonly checkpoints: readonly string[];
  /** The file of the checkpoint, as it was downloaded. */
  readonly downloaded: string;
  /** Where each run said that it starts. */
  readonly starts: readonly string[];
};

/** A cluster for any number of farewells. */
export const startWorld = (): Promise<World> =>
  World.start({ processes: true, slots: 2, restart: false });

/** A run of its own for each code ends with it while the part is away; it is back afterwards. In the codes' order. */
export async function endAway(
  world: World,
  part: "gateway" | "postgres",
  codes: readonly number[],
): Promise<readonly Farewell[]> {
  const runs = await Promise.all(codes.map((code) => startRun(world, `${part}-${code}`)));
  await world.kill(part);
  for (const [i, { go }] of runs.entries()) writeFileSync(go, String(codes[i]));
  await delay(awayMs);
  const said = await world.yard("cluster", "restart", part);
  if (said.code !== 0) throw new Error(said.err);
  return await Promise.all(runs.map((run) => farewellOf(world, run)));
}

type Run = {
  readonly name: string;
  readonly trial: string;
  /** The file that the run waits for; its content is the code that the run ends with. */
  readonly go: string;
};

/** Returns when the run waits to be let go. */
async function startRun(world: World, name: string): Promise<Run> {
  const go = join(world.folder, `go-${name}`);
  const config = `
name: farewell
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 1
environment: { environment_variables: ["GO=${go}"] }
`;
  const trial = `${await world.submit(config, world.code("farewell"))}.1`;
  await eventually(
    "the run waits to be let go",
    async () => (await startsOf(world, trial)).length === 1,
  );
  return { name, trial, go };
}

async function startsOf(world: World, trial: string): Promise<readonly string[]> {
  return (await world.logs(trial)).match(/starts at \d+/g) ?? [];
}

async function farewellOf(world: World, { name, trial }: Run): Promise<Farewell> {
  let checkpoints: readonly Plain<Checkpoint>[] = [];
  await eventually(
    "the trial has ended and its checkpoints are settled",
    async () => {
      checkpoints = (await world.client.call("listCheckpoints", { trial, pageSize: 100 })).items;
      const { state } = await world.client.call("getTrial", { trial });
      const settled = checkpoints.every((checkpoint) => checkpoint.state !== "ACTIVE");
      return settled && checkpoints.length > 0 && !/ACTIVE|STOPPING/.test(state);
    },
    300_000,
  );
  const [latest] = checkpoints;
  const download = await world.yard("checkpoint", "download", latest?.uuid ?? "", name);
  const file = join(world.folder, name, "state.json");
  return {
    state: (await world.client.call("getTrial", { trial })).state,
    checkpoints: checkpoints.map(({ state }) => state),
    downloaded: download.code === 0 ? readFileSync(file, "utf8") : download.err,
    starts: await startsOf(world, trial),
  };
}
