/** Adds and removes labels of the experiments that a request names. A refusal for one does not stop the others. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { inCommits } from "./act-on-experiments.ts";

export async function labelExperiments(
  backend: Backend,
  { experiments: all, addLabels, removeLabels, dryRun }: RequestOf<"labelExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"labelExperiments">> {
  const batch = {
    what: "label-experiments",
    experiments: all,
    permission: "experiment_edit",
  } as const;
  return inCommits(backend, batch, context, (experiments, part) =>
    backend.command(
      "experiments",
      "LabelExperiments",
      { experiments: [...experiments], addLabels, removeLabels, dryRun },
      part,
    ),
  );
}
