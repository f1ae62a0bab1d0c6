/**
 * Tutorials for Determined, run here with only their imports changed: every `determined` becomes `trainyard`, in the
 * code and in the entrypoint.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../world/world.ts";

const folder = join(import.meta.dirname, "tutorials");

export type Tutorial = {
  /** A folder of `tutorials`, and a configuration in it. */
  readonly name: string;
  readonly torch: boolean;
  /** The data that its best trial must leave; a script that only prints leaves none. */
  readonly leaves: readonly ("metrics" | "checkpoints")[];
};

const both = ["metrics", "checkpoints"] as const;

export const tutorials: readonly Tutorial[] = [
  { name: "core_api/0-start", torch: false, leaves: [] },
  { name: "core_api/1-metrics", torch: false, leaves: ["metrics"] },
  { name: "core_api/2-checkpoints", torch: false, leaves: both },
  { name: "core_api/3-hpsearch", torch: false, leaves: both },
  { name: "core_api/4-distributed", torch: false, leaves: both },
  { name: "mnist_pytorch/const", torch: true, leaves: both },
  { name: "mnist_pytorch/distributed", torch: true, leaves: both },
  { name: "mnist_pytorch/adaptive", torch: true, leaves: both },
  { name: "mnist_pytorch/dist-random", torch: true, leaves: both },
  { name: "core_api_pytorch_mnist/const", torch: true, leaves: [] },
  { name: "core_api_pytorch_mnist/metrics", torch: true, leaves: ["metrics"] },
  { name: "core_api_pytorch_mnist/checkpoints", torch: true, leaves: both },
  { name: "core_api_pytorch_mnist/adaptive", torch: true, leaves: both },
  { name: "core_api_pytorch_mnist/distributed", torch: true, leaves: both },
];

const ported = (text: string): string => text.replaceAll("determined", "trainyard");

/** Runs a tutorial to its end; returns the differences from a training that completed. */
export async function runTutorial(world: World, tutorial: Tutorial): Promise<readonly string[]> {
  const [group = "", config = ""] = tutorial.name.split("/");
  for (const file of readdirSync(join(folder, group))) {
    if (!file.endsWith(".py")) continue;
    world.write(`${group}/${file}`, ported(readFileSync(join(folder, group, file), "utf8")));
  }
  const text = ported(readFileSync(join(folder, group, `${config}.yaml`), "utf8"));
  const experiment = await world.submit(text, group);
  await world.end(experiment);
  const violations = await violationsOf(world, tutorial, experiment);
  if (violations.length === 0) return [];
  const lines = (await world.logs(`${experiment}.1`)).trimEnd().split("\n").slice(-20);
  return violations.map((one) => `${tutorial.name}: ${one}\n${lines.join("\n")}`);
}

async function violationsOf(
  world: World,
  { leaves }: Tutorial,
  experiment: string,
): Promise<readonly string[]> {
  const { client } = world;
  const violations: string[] = [];
  const { state, reason } = await client.call("getExperiment", { experiment });
  if (state !== "COMPLETED") violations.push(`ended ${state}: ${reason}`);
  const { items: trials } = await client.call("listTrials", { experiment });
  for (const { id, restarts } of trials) {
    if (restarts > 0) violations.push(`trial ${id} restarted ${restarts} times`);
  }
  const validated: string[] = [];
  for (const { id: trial } of trials) {
    const { items } = await client.call("listTrialMetrics", { trial, group: "validation" });
    if (items.length > 0) validated.push(trial);
  }
  if (leaves.includes("metrics") && validated.length < trials.length) {
    violations.push(`${validated.length} of ${trials.length} trials have validations`);
  }
  const { items: checkpoints } = await client.call("listCheckpoints", { experiment });
  const complete = checkpoints.filter((one) => one.state === "COMPLETED");
  if (leaves.includes("checkpoints") && complete.length === 0) {
    violations.push(`no checkpoint is complete: ${checkpoints.map((one) => one.state).join()}`);
  }
  return violations;
}
