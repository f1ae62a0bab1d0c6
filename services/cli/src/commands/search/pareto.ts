import { GetParetoFrontResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { number } from "../../output.ts";

export function addPareto(group: Command): void {
  group
    .command("pareto")
    .argument("<experiment>")
    .option("--all", "the other trials too")
    .description(
      "the trials that no other trial dominates: none is better in one objective and worse in none",
    )
    .action(withPlatform(pareto));
}

async function pareto(
  { client, output }: Context,
  args: readonly string[],
  { all = false }: { readonly all?: boolean },
): Promise<void> {
  const experiment = argument(args, 0);
  const answer = await client.call("getParetoFront", { experiment, all });
  if (output.json) {
    output.message(GetParetoFrontResponseSchema, answer);
    return;
  }
  const { objectives, items, trials } = answer;
  output.table(items, [
    { title: "TRIAL", value: ({ trial }) => trial },
    { title: "FRONT", value: ({ onFront }) => (onFront ? "yes" : "") },
    ...objectives.map(({ metric, smallerIsBetter }, index) => ({
      title: `${metric.toUpperCase()} ${smallerIsBetter ? "(small)" : "(large)"}`,
      value: ({ values }: (typeof items)[number]) => number(values[index] ?? Number.NaN),
      right: true,
    })),
    { title: "HYPERPARAMETERS", value: ({ hyperparameters }) => JSON.stringify(hyperparameters) },
  ]);
  output.note(
    trials === 0
      ? "no trial has reported all objectives yet"
      : `of ${trials} trials with a value of each objective`,
  );
}
