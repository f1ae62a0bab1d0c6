/** The commands that activate, pause, cancel and kill experiments: one, or several by number. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  ActOnExperimentsResponseSchema,
  CommandResponseSchema,
  type Experiment,
  type ExperimentAction,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { printable } from "../output.ts";
import { phaseWord } from "../state-words.ts";
import { Failure } from "../usage-error.ts";

const verbs = [
  ["pause", "pauseExperiment", "stop its trials gracefully; activate continues them"],
  ["activate", "activateExperiment", "run it, after a pause or when it was created paused"],
  ["cancel", "cancelExperiment", "end it, its trials gracefully"],
  ["kill", "killExperiment", "end it, its trials at once"],
  ["archive", "archiveExperiment", "leave it out of lists; only one that has ended"],
  ["unarchive", "unarchiveExperiment", "take it back into lists"],
  ["undelete", "undeleteExperiment", "bring a deleted one back, within its grace"],
] as const;

type Verb = (typeof verbs)[number];

type Options = { readonly dryRun?: boolean };

export function addSteering(group: Command): void {
  for (const verb of verbs) {
    group
      .command(verb[0])
      .argument("<experiments...>", "one or more numbers")
      .option("--dry-run", "say what would happen to each, and change nothing")
      .description(verb[2])
      .action(async (...given: unknown[]) => {
        // Commander passes the experiment numbers as one list.
        const ids = given[0] as readonly string[];
        const act = withPlatform<Options>((context, _args, { dryRun = false }) =>
          ids.length === 1 && !dryRun
            ? actOnOne(context, verb, ids[0] ?? "")
            : actOnSeveral(context, verb, ids, dryRun),
        );
        await act(...given);
      });
  }
}

async function actOnOne(
  { client, output }: Context,
  [, call]: Verb,
  experiment: string,
): Promise<void> {
  const answer = await client.call(call, { experiment }, { idempotencyKey: randomUUID() });
  if (output.json) output.message(CommandResponseSchema, answer);
  else output.line(`experiment ${experiment} is ${stateOf(answer.experiment)}`);
}

function actOnSeveral(
  context: Context,
  [verb]: Verb,
  experiments: readonly string[],
  dryRun: boolean,
): Promise<void> {
  const reason = verb === "cancel" || verb === "kill" ? `${verb}ed by a user` : "";
  return actOnEach(context, { experiments: [...experiments], verb, reason, dryRun });
}

export type Act = {
  readonly experiments: string[];
  readonly verb: string;
  readonly reason: string;
  readonly dryRun: boolean;
};

/** Applies one verb to each experiment, prints the outcomes, and throws a Failure if one was refused. */
export async function actOnEach({ client, output }: Context, request: Act): Promise<void> {
  const { verb, dryRun } = request;
  const answer = await client.call("actOnExperiments", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(ActOnExperimentsResponseSchema, answer);
  else for (const item of answer.items) output.line(lineOf(item, verb, dryRun));
  const refused = answer.items.filter(({ outcome }) => outcome === "refused").length;
  if (refused === 0) return;
  const would = dryRun ? "would be" : "were";
  throw new Failure(`${refused} of ${answer.items.length} experiments ${would} refused.`);
}

export function lineOf(
  { experiment, outcome, detail }: Plain<ExperimentAction>,
  verb: string,
  dryRun: boolean,
): string {
  const subject = `experiment ${experiment}`;
  if (outcome === "refused") return `${subject}: refused, ${printable(detail)}`;
  if (outcome === "unchanged") return `${subject}: nothing to change`;
  return dryRun ? `${subject}: ${verb}` : `${subject}: ${verb}, done`;
}

export function stateOf(experiment: Plain<Experiment> | undefined): string {
  if (experiment === undefined) return "";
  const word = phaseWord(experiment);
  return experiment.archived ? `${word} archived` : word;
}
