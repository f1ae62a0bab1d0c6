/**
 * The mount of a checkpoint storage hangs, as a hard mount whose server is away: a real file system (FUSE) that never
 * answers. Downloads and completions of its checkpoints wait. Nothing else does, and all succeed once it is back.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { clusterAccess } from "@trainyard/local-cluster";
import { eventually } from "../../world/eventually.ts";
import type { World } from "../../world/world.ts";
import {
  bystander,
  died,
  endOf,
  pidsOf,
  type Scenario,
  storesWithoutRegistry,
} from "./scenario.ts";

const program = join(import.meta.dirname, "../hanging_mount.py");
/** Longer than a download waits for the mount, and shorter than the test of its callers' patience. */
const answerMs = 20_000;
const code = `
import trainyard
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_text("trained")
`;

export const hangingMount: Scenario = {
  name: "a mount that hangs below a checkpoint storage",
  run: async (world) => {
    const before = await pidsOf(world);
    const root = join(world.folder, "hanging");
    mkdirSync(root);
    world.write("code-hangs/train.py", code);
    const stored = await stores(world, root);
    const [checkpoint = ""] = await untilCompleted(world, stored);
    const registry = await world.pidOf("registry");
    const later = await storesWithoutRegistry(world, registry, "hangs-later", storageAt(root));
    const { id: waiting } = later;
    const mount = await hang(root);
    process.kill(registry, "SIGCONT");
    const found = later.state === "COMPLETED" ? [] : [`its experiment is ${later.state}`];
    try {
      // The registry lost its lease while it was stopped. It notices that soon, and answers nothing for a moment.
      const isBack = async (): Promise<boolean> => {
        for (let times = 0; times < 10; times += 1) {
          await world.client.call("planDownload", { checkpoint });
          await delay(200);
        }
        return true;
      };
      await eventually("the registry decides again", () => isBack().catch(() => false), 60_000);
      const downloads = Array.from({ length: 4 }, () => download(world, checkpoint));
      found.push(...(await bystander(world)));
      for (const { status, text, ms } of await Promise.all(downloads)) {
        if (status !== 503 || !text.includes(root)) found.push(`a download got ${status} ${text}`);
        if (ms > answerMs) found.push(`a download waited for ${ms} ms`);
      }
      const states = (await checkpointsOf(world, waiting)).map(({ state }) => state);
      if (states.join() !== "ACTIVE") found.push(`the checkpoint that waits is ${states.join()}`);
    } finally {
      mount.kill("SIGTERM");
      await once(mount, "exit");
    }
    await untilCompleted(world, waiting).catch((error: unknown) => found.push(String(error)));
    // The gateway tries a mount that hung again after a pause.
    const isServed = async () => (await download(world, checkpoint)).status === 200;
    await eventually("a download from the mount that is back", isServed, 60_000).catch(
      (error: unknown) => found.push(String(error)),
    );
    return [...found, ...(await died(world, before))];
  },
};

const storageAt = (root: string): string =>
  `checkpoint_storage: { type: directory, container_path: ${JSON.stringify(root)} }\n`;

/** Runs a script that stores a checkpoint below the root; returns its experiment. */
async function stores(world: World, root: string): Promise<string> {
  const config = `
name: hangs
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
${storageAt(root)}`;
  const id = await world.submit(config, "code-hangs");
  await endOf(world, id);
  return id;
}

async function checkpointsOf(world: World, experiment: string) {
  return (await world.client.call("listCheckpoints", { trial: `${experiment}.1` })).items;
}

async function untilCompleted(world: World, experiment: string): Promise<readonly string[]> {
  const isComplete = async (): Promise<boolean> => {
    const items = await checkpointsOf(world, experiment);
    return items.length > 0 && items.every(({ state }) => state === "COMPLETED");
  };
  await eventually(`the checkpoint of experiment ${experiment} is complete`, isComplete, 300_000);
  return (await checkpointsOf(world, experiment)).map(({ uuid }) => uuid);
}

async function hang(root: string): Promise<ChildProcess> {
  const mount = spawn("python3", [program, root], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(mount, "exit").then(() => {
    throw new Error("the mount failed: this scenario needs the right to mount, and /dev/fuse");
  });
  await Promise.race([once(mount.stdout, "data"), ended]);
  ended.catch(() => {});
  return mount;
}

async function download(world: World, checkpoint: string) {
  const access = clusterAccess(world.home);
  const headers = { authorization: `Bearer ${access?.token}` };
  const started = performance.now();
  const answer = await fetch(`${access?.api}/api/v1/checkpoints/${checkpoint}/archive`, {
    headers,
  });
  const text = answer.ok ? "" : await answer.text();
  await answer.body?.cancel().catch(() => {});
  return { status: answer.status, text, ms: Math.round(performance.now() - started) };
}
