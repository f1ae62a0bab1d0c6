import { GetImportanceResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";

export function addImportance(group: Command): void {
  group
    .command("importance")
    .argument("<experiment>")
    .description("how much each hyperparameter matters for being among the best trials")
    .action(withPlatform(importance));
}

/** The width of a bar of 100 %, in columns. */
const BAR = 40;

async function importance({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const answer = await client.call("getImportance", { experiment });
  if (output.json) {
    output.message(GetImportanceResponseSchema, answer);
    return;
  }
  const { trials, trialsNeeded, trialsBest, items } = answer;
  if (trials < trialsNeeded) {
    output.note(`Too few trials: ${trials} have a value, and at least ${trialsNeeded} are needed.`);
    return;
  }
  output.table(items, [
    { title: "HYPERPARAMETER", value: ({ hyperparameter }) => hyperparameter },
    { title: "IMPORTANCE", value: ({ importance: of }) => of.toFixed(3), right: true },
    { title: "", value: ({ importance: of }) => "█".repeat(Math.round(of * BAR)) },
  ]);
  output.note(
    `where the best ${trialsBest} of ${trials} trials are beside all of them (PED-ANOVA)`,
  );
}
