import type { LineSegment } from "@trainyard/search";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { UsageError } from "../../usage-error.ts";
import { recordedSearch } from "./recorded-search.ts";
import { trialNumber } from "./trial-number.ts";

export function addSchedule(group: Command): void {
  group
    .command("schedule")
    .argument("<experiment>")
    .argument("[trial]", "of this trial, and not of the best: 3, or 12.3")
    .description(
      "which hyperparameters held until when on the way to the best trial, as a searcher section (YAML) that trains it as one run",
    )
    .action(withPlatform(schedule));
}

async function schedule({ client, output }: Context, args: readonly string[]): Promise<void> {
  const { bestTrialOf, continuesTrials, lineOf, scheduleOf } = await import("@trainyard/search");
  const experiment = argument(args, 0);
  const asked = trialNumber(experiment, args[1]);
  const events = await recordedSearch(client, experiment);
  if (!continuesTrials(events)) {
    throw new UsageError(
      `Experiment ${experiment} has no schedule: each of its trials keeps its hyperparameters (yard trial describe shows them).`,
    );
  }
  const trial = asked ?? bestTrialOf(events);
  if (trial === null) {
    throw new UsageError(`No trial of experiment ${experiment} has reported its metric yet.`);
  }
  const line = lineOf(events, trial);
  const searcher = scheduleOf(events, line);
  if (searcher === null) {
    throw new UsageError(`Trial ${experiment}.${trial} has not been trained.`);
  }
  if (output.json) {
    output.line(JSON.stringify({ searcher }));
    return;
  }
  const { schedule: _, ...keys } = searcher;
  output.line("searcher:");
  for (const [key, value] of Object.entries(keys))
    output.line(`  ${key}: ${JSON.stringify(value)}`);
  output.line("  schedule:");
  for (const segment of line)
    segmentLines(experiment, segment).forEach((text) => output.line(text));
}

/** JSON is also YAML, and keeps every digit of a number. */
function segmentLines(experiment: string, segment: LineSegment): readonly string[] {
  const { trial, from, until, hyperparameters, seed } = segment;
  return [
    `    # trial ${experiment}.${trial}, from ${from}`,
    `    - until: ${until}`,
    `      hyperparameters: ${JSON.stringify(hyperparameters)}`,
    `      seed: ${seed}`,
  ];
}
