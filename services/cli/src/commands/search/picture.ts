import type { Plain } from "@trainyard/contracts";
import {
  type GetSearchPictureResponse,
  GetSearchPictureResponseSchema,
  type PictureTrial,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { wholeNumberOf } from "../../option-values.ts";
import type { Output } from "../../output.ts";

type PictureOptions = { readonly at?: string };

export function addPicture(group: Command): void {
  group
    .command("picture")
    .argument("<experiment>")
    .option("--at <version>", "as it was at this version of the search (yard search events)")
    .description("its rungs and where each trial is, with the last decision about it")
    .action(withPlatform<PictureOptions>(picture));
}

type Picture = Plain<GetSearchPictureResponse>;

async function picture(
  { client, output }: Context,
  args: readonly string[],
  options: PictureOptions,
): Promise<void> {
  const experiment = argument(args, 0);
  const version = wholeNumberOf("--at", options.at ?? "0");
  let shown = await client.call("getSearchPicture", { experiment, version });
  const trials = [...shown.trials];
  while (shown.nextPageToken !== "") {
    const pageToken = shown.nextPageToken;
    shown = await client.call("getSearchPicture", { experiment, pageToken });
    trials.push(...shown.trials);
  }
  const whole: Picture = { ...shown, trials };
  if (output.json) output.message(GetSearchPictureResponseSchema, whole);
  else print(output, whole);
}

function print(
  output: Output,
  { version, phase, algorithm, metric, units, brackets, trials }: Picture,
) {
  output.fields([
    ["search", `${algorithm} of ${metric}, ${phase}`],
    ["version", String(version)],
    ["trained", String(units)],
  ]);
  const rungs = brackets.flatMap(({ rungs: own }, bracket) =>
    own.map((rung, index) => ({ ...rung, bracket, index, isTop: index === own.length - 1 })),
  );
  if (rungs.length > 0) {
    output.line("");
    output.table(rungs, [
      { title: "BRACKET", value: ({ bracket }) => String(bracket), right: true },
      { title: "RUNG", value: ({ index }) => String(index), right: true },
      { title: "AT", value: ({ units: at }) => String(at), right: true },
      { title: "TRIALS", value: ({ trials: count }) => String(count), right: true },
      { title: "KEPT", value: ({ kept, isTop }) => (isTop ? "" : String(kept)), right: true },
      { title: "CUTOFF", value: ({ cutoff }) => numberText(cutoff), right: true },
    ]);
  }
  output.line("");
  output.table(trials, [
    { title: "TRIAL", value: ({ trial }) => trial },
    { title: "STATE", value: ({ state }) => state },
    { title: "TIME", value: ({ time }) => String(time), right: true },
    { title: "BEST", value: ({ best }) => numberText(best), right: true },
    { title: "RUNGS", value: pathOf },
    { title: "LAST DECISION", value: ({ decisions }) => decisions.at(-1)?.sentence ?? "" },
  ]);
}

/** The value and rank of a trial at each rung, for example "0.5 (#2), 0.4 (#1)". */
const pathOf = ({ reports }: Plain<PictureTrial>): string =>
  reports.map(({ value, rank }) => `${numberText(value) || "-"} (#${rank})`).join(", ");

const numberText = (value: number | undefined): string =>
  value === undefined ? "" : String(Number(value.toPrecision(6)));
