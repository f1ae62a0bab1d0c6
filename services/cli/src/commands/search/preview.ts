import type { Command } from "commander";
import { overrides, parseHere, readConfig } from "../../config-file.ts";
import { outputOf } from "../../context.ts";

export function addPreview(group: Command): void {
  group
    .command("preview")
    .argument("<config>", "the experiment's YAML file")
    .addOption(overrides())
    .description("how many trials end at which time, before anything is spent")
    .action(preview);
}

async function preview(
  file: string,
  options: { readonly config: readonly string[] },
  command: Command,
): Promise<void> {
  const output = outputOf(command);
  const { config } = await parseHere(await readConfig(file, options.config), options.config);
  const { previewSearch } = await import("@trainyard/search");
  if (config.searcher.name === "custom") {
    output.note("the client of a custom search proposes its trials, at most max_trials");
  }
  const { rungs, total } = previewSearch(config.searcher, config.hyperparameters);
  if (output.json) {
    output.line(JSON.stringify({ rungs, total }));
    return;
  }
  const until = ({ units }: { readonly units: number | null }): string =>
    units === null ? "their end" : String(units);
  output.table(rungs, [
    { title: "BRACKET", value: ({ bracket }) => String(bracket), right: true },
    { title: "TRIALS", value: ({ trials }) => String(trials), right: true },
    { title: "TRAIN UNTIL", value: until, right: true },
  ]);
  const trials = total.reduce((sum, one) => sum + one.trials, 0);
  const units = total.reduce((sum, one) => sum + one.trials * (one.units ?? 0), 0);
  const spent = total.some((one) => one.units === null) ? "" : `, ${units} units of training`;
  output.line(`in all ${trials} trials${spent}`);
  const { searcher } = config;
  if (searcher.name === "pbt") {
    output.line(
      `each copy of a member is one more trial, which starts from a checkpoint: at most ${searcher.max_trials} trials`,
    );
  }
}
