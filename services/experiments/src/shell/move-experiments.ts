/** Moves several experiments into a project in one commit, which is refused if the project is archived meanwhile. */
import type { Plain } from "@trainyard/contracts";
import type { ExperimentsActedOn, MoveExperiments } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, type Executor, refusalOfPlace } from "@trainyard/runtime";
import { decideEach } from "./act-on-experiments.ts";

export async function moveExperiments(
  executor: Executor,
  { experiments, place, dryRun }: Plain<MoveExperiments>,
  { identity }: CommandContext,
): Promise<Plain<ExperimentsActedOn> | Rejection> {
  if (place === undefined) return reject("invalid_request", "place is missing");
  const { workspace, project } = place;
  const command = { kind: "move", workspace, project } as const;
  const wanted = async () => command;
  const asked = { experiments, wanted, dryRun };
  return decideEach(executor, asked, identity, (work) => refusalOfPlace(work, place));
}
