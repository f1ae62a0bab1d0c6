import { drawInteger } from "@trainyard/kernel";
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { type Part, partsWithTasks, taskCluster, troubledTasks } from "./troubled-tasks.ts";

/** Longer than every timeout: an agent is lost after 30 s. */
const awayMs = 60_000;

/** The whole campaign takes a quarter of an hour, and one part 80 s. */
export const campaigns: readonly Campaign[] = [
  {
    name: "tasks",
    description: "commands and shells while each part is killed, and away for 60 s",
    run: (options) => during(shuffled(options.seed), options),
  },
  ...partsWithTasks.map((part) => ({
    name: `tasks-${part}`,
    description: `of tasks: ${part} alone`,
    run: (options: Options) => during([part], options),
  })),
];

type Options = Parameters<Campaign["run"]>[0];
type Result = Awaited<ReturnType<Campaign["run"]>>;

async function during(parts: readonly Part[], { seed, log }: Options): Promise<Result> {
  await using world = await World.start(taskCluster);
  const troubles = parts.flatMap((part) => [
    { part, awayMs: 0 },
    { part, awayMs },
  ]);
  const violations = await troubledTasks(world, { seed, troubles, log });
  return { violations, summary: `${parts.length} parts, ${troubles.length} troubles` };
}

function shuffled(seed: number): readonly Part[] {
  const left = [...partsWithTasks];
  return partsWithTasks.flatMap((_, n) =>
    left.splice(drawInteger(seed, "parts", n, left.length), 1),
  );
}
