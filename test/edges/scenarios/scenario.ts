/**
 * An action of a user, a script or an accident on a running cluster, and the conditions that must be true afterwards.
 */
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
