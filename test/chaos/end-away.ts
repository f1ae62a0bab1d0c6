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

/** The run ends with the given code while the part is away. */
export async function endAway(part: "gateway" | "postgres", code: number): Promise<Farewell> {
  await using world = await World.start({ processes: true, slots: 2, restart: false });
  const go = join(world.folder, "go");
  const config = `
name: farewell
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 1
environment: { environment_variables: ["GO=${go}"] }
`;
  const experiment = await world.submit(config, world.code("farewell"));
  const trial = `${experiment}.1`;
  const starts = async (): Promise<readonly string[]> =>
    (await world.yard("trial", "logs", trial)).out.match(/starts at \d+/g) ?? [];
  await eventually("the run waits to be let go", async () => (await starts()).length === 1);
  await world.kill(part);
  writeFileSync(go, String(code));
  await delay(awayMs);
  const said = await world.yard("cluster", "restart", part);
  if (said.code !== 0) throw new Error(said.err);
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
  const download = await world.yard("checkpoint", "download", latest?.uuid ?? "", "downloaded");
  const file = join(world.folder, "downloaded", "state.json");
  return {
    state: (await world.client.call("getTrial", { trial })).state,
    checkpoints: checkpoints.map(({ state }) => state),
    downloaded: download.code === 0 ? readFileSync(file, "utf8") : download.err,
    starts: await starts(),
  };
}
