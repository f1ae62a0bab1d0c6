/** During a search each part in turn is killed with kill -9: the search must end without a trace of it. */
import { drawInteger } from "@trainyard/kernel";
import { World } from "../world/world.ts";
import {
  hyperparametersOf,
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

export async function killEach(options: {
  readonly seed: number;
  readonly rounds: number;
  readonly stepSeconds: number;
  readonly trials?: number;
  readonly log: (line: string) => void;
}): Promise<{ readonly violations: readonly string[]; readonly killed: number }> {
  await using world = await World.start({ processes: true, slots: 3 });
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
  await untilOver(world.client, search.id, 900_000);
  violations.push(...(await violationsOf(world, search)));
  violations.push(...(await differencesToUndisturbed(world, search, options.seed)));
  return { violations, killed };
}

/** The same search, undisturbed and with shorter steps, must draw the same hyperparameters in the same order. */
async function differencesToUndisturbed(
  world: World,
  disturbed: SearchUnderTest,
  seed: number,
): Promise<string[]> {
  const { trials } = disturbed;
  const { id } = await submitSearch(world, { seed, stepSeconds: 0, trials });
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
