/** During a search each part in turn is killed with kill -9: the search must end without a trace of it. */
import { writeFileSync } from "node:fs";
import { drawInteger } from "@trainyard/kernel";
import type { World } from "../world/world.ts";
import {
  hyperparametersOf,
  type SearchSize,
  type SearchUnderTest,
  submitSearch,
  untilMoreValidations,
  untilOver,
  violationsOf,
} from "./search-under-test.ts";

export const parts = [
  "experiments",
  "searcher",
  "scheduler",
  "metrics",
  "logs",
  "registry",
  "checkpoint-gc",
  "relay",
  "gateway",
  "agent-1",
  "nats",
  "postgres",
  "supervisor",
] as const;

/** The search hurries once every part was killed; until then its steps must be so long that it does not end. */
export async function killEach(
  world: World,
  options: SearchSize & { readonly rounds: number; readonly log: (line: string) => void },
): Promise<{ readonly violations: readonly string[]; readonly killed: number }> {
  const search = await submitSearch(world, options);
  const violations: string[] = [];
  let killed = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    for (const part of shuffled(parts, options.seed, round)) {
      const over = await untilMoreValidations(world.client, search.id);
      if (over) violations.push(`it ended before ${part} was killed`);
      options.log(`kill -9 ${part}`);
      const pid = await world.kill(part);
      // No process restarts the supervisor: a person does.
      if (part === "supervisor") await world.up();
      else await world.untilUp(part, pid);
      killed += 1;
    }
  }
  options.log("every part was killed; waiting for the search to end");
  writeFileSync(search.hurry, "");
  await untilOver(world.client, search.id, 900_000);
  violations.push(...(await violationsOf(world, search)));
  violations.push(...(await differencesToUndisturbed(world, search, options.seed)));
  return { violations, killed };
}

/**
 * The same search, undisturbed and with fewer and shorter steps, must draw the same hyperparameters in the same
 * order.
 */
async function differencesToUndisturbed(
  world: World,
  disturbed: SearchUnderTest,
  seed: number,
): Promise<string[]> {
  const { trials } = disturbed;
  const { id } = await submitSearch(world, { seed, stepSeconds: 0, steps: 3, trials });
  await untilOver(world.client, id);
  const [ours, theirs] = [
    await hyperparametersOf(world.client, disturbed.id),
    await hyperparametersOf(world.client, id),
  ];
  return ours.flatMap((one, index) =>
    JSON.stringify(one) === JSON.stringify(theirs[index])
      ? []
      : [
          `trial ${index + 1} drew ${JSON.stringify(one)}, undisturbed ${JSON.stringify(theirs[index])}`,
        ],
  );
}

function shuffled(names: readonly string[], seed: number, round: number): readonly string[] {
  const left = [...names];
  return names.flatMap((_, index) => {
    const stream = `chaos/${round}`;
    return left.splice(drawInteger(seed, stream, index, left.length), 1);
  });
}
