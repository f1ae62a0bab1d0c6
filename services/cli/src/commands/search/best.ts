import { GetBestSoFarResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { number, time } from "../../output.ts";

export function addBest(group: Command): void {
  group
    .command("best")
    .argument("<experiment>")
    .description("the curve of the best value so far, and what had been spent by then")
    .action(withPlatform(best));
}

async function best({ client, output }: Context, args: readonly string[]): Promise<void> {
  const answer = await client.call("getBestSoFar", { experiment: argument(args, 0) });
  if (output.json) {
    output.message(GetBestSoFarResponseSchema, answer);
    return;
  }
  output.table(answer.items, [
    { title: "AT", value: ({ atMs }) => time(atMs) },
    { title: "TRIAL", value: ({ trial }) => trial },
    { title: answer.metric.toUpperCase(), value: ({ value }) => number(value), right: true },
    { title: "TIME", value: (item) => number(item.time), right: true },
    { title: "VALIDATIONS", value: ({ observations }) => String(observations), right: true },
    { title: "UNITS", value: ({ units }) => number(units), right: true },
  ]);
  if (answer.items.length === 0)
    output.note("no trial without a failure has reported the metric yet");
}
