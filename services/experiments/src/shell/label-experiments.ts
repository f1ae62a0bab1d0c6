/** Adds and removes labels of several experiments in one commit. A refusal for one does not stop the others. */
import type { Plain } from "@trainyard/contracts";
import type { ExperimentsActedOn, LabelExperiments } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import type { CommandContext, Executor } from "@trainyard/runtime";
import { decideEach } from "./act-on-experiments.ts";

export async function labelExperiments(
  executor: Executor,
  { experiments, addLabels, removeLabels, dryRun }: Plain<LabelExperiments>,
  { identity }: CommandContext,
): Promise<Plain<ExperimentsActedOn> | Rejection> {
  if (addLabels.length + removeLabels.length === 0) {
    return reject("invalid_request", "name at least one label to add or to remove");
  }
  const command = { kind: "describe", words: { addLabels, removeLabels } } as const;
  return decideEach(executor, { experiments, wanted: async () => command, dryRun }, identity);
}
