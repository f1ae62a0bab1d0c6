import type { Difference, Fate, Replay, SearchEvent, WhatIf } from "@trainyard/search";
import type { Command } from "commander";
import { overrides, parseHere, readConfig } from "../../config-file.ts";
import { argument, type Context, withPlatform } from "../../context.ts";
import { number } from "../../output.ts";
import { Failure, UsageError } from "../../usage-error.ts";
import { recordedSearch } from "./recorded-search.ts";

type Options = { readonly with?: string; readonly config: readonly string[] };

export function addReplay(group: Command): void {
  group
    .command("replay")
    .argument("<experiment>")
    .option("--with <config>", "decide with the searcher of another YAML file, trial by trial")
    .addOption(overrides())
    .description("decide the recorded reports once more, and show what differs")
    .action(withPlatform(replay));
}

async function replay(
  context: Context,
  args: readonly string[],
  { with: other, config: given }: Options,
): Promise<void> {
  const experiment = argument(args, 0);
  if (other === undefined && given.length > 0) {
    throw new UsageError("--config needs --with: it changes the configuration file of --with.");
  }
  const config =
    other === undefined ? null : (await parseHere(await readConfig(other, given), given)).config;
  const { replaySearch, replayWith, unrecordedBy } = await import("@trainyard/search");
  const events = await recordedSearch(context.client, experiment);
  const [first] = events;
  if (first?.type !== "SearchStarted") {
    throw new Failure(`The search of experiment ${experiment} has not started yet.`);
  }
  if (config === null) return verify(context, replaySearch(events));
  const unrecorded = unrecordedBy(events, config);
  if (unrecorded !== null) {
    const { key, name, recorded } = unrecorded;
    throw new UsageError(
      `searcher.${key} names ${name}, which the search of experiment ${experiment} did not record; it recorded ${recorded.join(", ")}.`,
    );
  }
  compare(context, replayWith(events, config, first.data.seed));
}

function verify({ output }: Context, replayed: Replay): void {
  const { inputs, decisions, differences } = replayed;
  if (output.json) output.line(JSON.stringify(replayed));
  else {
    for (const difference of differences) showDifference(output, difference);
    output.line(
      `${replayed.events} events: ${inputs} reports and ends, ${decisions} decisions, ${differences.length} differences`,
    );
  }
  if (differences.length === 0) return;
  throw new Failure("This version decides the search differently than when it ran.");
}

function showDifference(output: Context["output"], difference: Difference): void {
  const { version, recorded, decided } = difference;
  output.line(`event ${version}`);
  output.line(`  recorded ${shown(recorded, "nothing")}`);
  output.line(`  decided  ${typeof decided === "string" ? decided : shown(decided, "nothing")}`);
}

function shown(event: SearchEvent | null, none: string): string {
  return event === null ? none : `${event.type} ${JSON.stringify(event.data)}`;
}

function compare({ output }: Context, what: WhatIf): void {
  if (output.json) {
    output.line(JSON.stringify(what));
    return;
  }
  const { trials, units, best, beyond, completion } = what;
  output.table(trials, [
    { title: "TRIAL", value: ({ trial }) => String(trial), right: true },
    { title: "UNITS", value: ({ recorded }) => number(recorded.units), right: true },
    { title: "RECORDED", value: ({ recorded }) => shownFate(recorded) },
    { title: "UNITS", value: ({ other }) => number(other.units), right: true },
    { title: "WITH THE OTHER", value: ({ other }) => shownFate(other) },
  ]);
  const value = (of: keyof WhatIf["best"]): string =>
    best[of] === null
      ? "none"
      : `${number(best[of]?.value)} (trial ${String(best[of]?.trial ?? "")})`;
  output.line(
    `units of training: ${number(units.recorded)} recorded, ${number(units.other)} other`,
  );
  output.line(`best value: ${value("recorded")} recorded, ${value("other")} other`);
  if (beyond > 0) output.line(`${beyond} trials that it asked for were never recorded`);
  if (completion === null) output.line("by the end of the record it had not completed");
}

function shownFate({ end, rule }: Fate): string {
  return rule === "" ? end : `${end} (${rule})`;
}
