/** Moves the experiments that a request names into a project. A refusal for one does not stop the others. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { findNewPlace } from "../rights/new-place.ts";
import { inCommits } from "../experiments/act-on-experiments.ts";

export async function moveExperiments(
  backend: Backend,
  { experiments: all, workspace, project, dryRun }: RequestOf<"moveExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"moveExperiments">> {
  const { rights } = context;
  const permission = "experiment_create";
  const place = await findNewPlace(backend, { workspace, project, rights, permission });
  const batch = {
    what: "move-experiments",
    experiments: all,
    permission: "experiment_control",
  } as const;
  return inCommits(backend, batch, context, (experiments, part) =>
    backend.command(
      "experiments",
      "MoveExperiments",
      { experiments: [...experiments], place, dryRun },
      part,
    ),
  );
}
