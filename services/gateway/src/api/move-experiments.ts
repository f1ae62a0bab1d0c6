/** Moves the experiments that a request names into a project. A refusal for one does not stop the others. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { RequestContext } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { findPlace } from "../shell/spaces.ts";
import { inCommits } from "./act-on-experiments.ts";

export async function moveExperiments(
  backend: Backend,
  { experiments: all, workspace, project, dryRun }: RequestOf<"moveExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"moveExperiments">> {
  const place = await findPlace(backend, workspace, project);
  return inCommits(backend, "move-experiments", all, context, (experiments, part) =>
    backend.command(
      "experiments",
      "MoveExperiments",
      { experiments: [...experiments], place, dryRun },
      part,
    ),
  );
}
