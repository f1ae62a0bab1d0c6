/**
 * An action of a user, a script or an accident on a running cluster, and the conditions that must be true afterwards.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../world/eventually.ts";
import type { World } from "../../world/world.ts";

export type Scenario = {
  readonly name: string;
  /** Returns a sentence for each violation; none if all conditions are met. */
  readonly run: (world: World) => Promise<readonly string[]>;
};

/** Submits an experiment of one trial that runs this shell command; returns its id. */
export async function submitCommand(
  world: World,
  name: string,
  command: string,
  more = "",
): Promise<string> {
  const config = `
name: ${name}
entrypoint: ${JSON.stringify(command)}
searcher: { name: single, metric: loss }
max_restarts: 0
${more}`;
  return world.submit(config, world.code("noop"));
}

/** The state of an experiment once it has ended, or its present state after a timeout. */
export async function endOf(world: World, experiment: string, forMs = 200_000): Promise<string> {
  let state = "unknown";
  const hasEnded = async (): Promise<boolean> => {
    ({ state } = await world.client.call("getExperiment", { experiment }));
    return ["COMPLETED", "CANCELED", "ERROR"].includes(state);
  };
  await eventually(`experiment ${experiment} has ended`, hasEnded, forMs).catch(() => {});
  return state;
}

/**
 * Submits a script that stores a checkpoint while the registry, which completes nothing, is stopped, and waits for its
 * end. The run starts before: the registry gives the agent the model code. The caller lets the registry continue.
 */
export async function storesWithoutRegistry(
  world: World,
  registry: number,
  name: string,
  more = "",
): Promise<{ readonly id: string; readonly state: string }> {
  const go = join(world.folder, `${name}-go`);
  world.write(`code-${name}/train.py`, storing(go));
  const config = `name: ${name}\nentrypoint: python3 train.py\n${single}${more}`;
  const id = await world.submit(config, `code-${name}`);
  await eventually(`experiment ${id} trains`, async () => {
    const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
    return runs[0]?.state === "RUNNING";
  });
  process.kill(registry, "SIGSTOP");
  writeFileSync(go, "");
  return { id, state: await endOf(world, id) };
}

const single = "searcher: { name: single, metric: loss }\n";

/** A script that stores a checkpoint once the file is there. */
const storing = (go: string): string => `
import os, time, trainyard
with trainyard.init() as ctx:
    while not os.path.exists(${JSON.stringify(go)}):
        time.sleep(0.1)
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_text("trained")
`;

/** Submits another user's experiment, which must run to its end undisturbed. */
export async function bystander(world: World): Promise<readonly string[]> {
  const id = await submitCommand(world, "bystander", "true");
  const state = await endOf(world, id);
  return state === "COMPLETED" ? [] : [`the experiment of a bystander is ${state}`];
}

/** The pid of every process of the cluster, by name. */
export async function pidsOf(world: World): Promise<ReadonlyMap<string, number | null>> {
  return new Map((await world.processes()).map(({ name, pid }) => [name, pid]));
}

/** Returns the processes that died meanwhile. */
export async function died(
  world: World,
  before: ReadonlyMap<string, number | null>,
): Promise<readonly string[]> {
  const now = await pidsOf(world);
  return [...before].flatMap(([name, pid]) => (now.get(name) === pid ? [] : [`${name} died`]));
}
