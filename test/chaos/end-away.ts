/** A run stores its last checkpoint and ends while a part of the platform is down for longer than every timeout. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { Checkpoint } from "@trainyard/contracts/api";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";

/** Longer than every wait at the end of a run. */
const awayMs = 40_000;

export type Farewell = {
  readonly state: string;
  readonly checkpoints: readonly string[];
  /** The content of the checkpoint's downloaded file. */
  readonly downloaded: string;
  /** The starting point that each run printed. */
  readonly starts: readonly string[];
};

/**
 * For each exit code, a run ends with it while the part is down; afterwards the part is started. Returns results in the
 * order of the codes.
 */
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
  /** The file that the run waits for; its content is the run's exit code. */
  readonly go: string;
};

/** Returns when the run waits for its file. */
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
