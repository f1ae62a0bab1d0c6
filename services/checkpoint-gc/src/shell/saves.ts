/**
 * The retention of the saves of tasks. The newest ones of a task stay, by their numbers, and its latest one; no value
 * ranks them, so a task is judged at each new save, also while it runs. A deleted task keeps none that nothing needs.
 */
import type { Work } from "@trainyard/runtime";
import type { Policy } from "../core/foreign/experiment.ts";
import { condemned } from "../core/retention-rule/condemned.ts";
import { gcLimits } from "../limits.ts";
import { tasks } from "../streams.ts";
import { condemn, condemnAll, type CondemnGrounds, type JudgeDeps } from "./condemn-by-policy.ts";
import type { Index } from "./index-view.ts";

/** The policy of every task. Saves have no values, so only the third number matters. */
export const savesPolicy: Policy = {
  saveExperimentBest: 0,
  saveTrialBest: 0,
  saveTrialLatest: gcLimits.savesKept,
};

/** Condemns the saves of a task that newer ones outrank and nothing needs; of a deleted task all. */
export async function sweepSaves(
  deps: JudgeDeps,
  work: Work,
  task: string,
  position: number,
): Promise<void> {
  const { deleted } = await work.guard(tasks, task);
  await deps.index.view.reach(position);
  if (deleted) {
    const why = { by: `task-${task}`, reason: "its task was deleted" };
    return condemnAll(deps, work, task, { experiment: "", ...why });
  }
  await deps.time.look();
  for (const [checkpoint, given] of await outranked(deps.index, task)) {
    await condemn(deps, work, checkpoint, given);
    await work.part();
  }
}

/** Returns why a condemned save is to be kept after all; null if it is not. */
export async function needOfRank(
  index: Pick<Index, "saves">,
  work: Work,
  task: string,
  checkpoint: string,
): Promise<string | null> {
  if ((await work.guard(tasks, task)).deleted) return null;
  // A newer save may have been found damaged, or a person deleted it, during the grace.
  if ((await outranked(index, task)).has(checkpoint)) return null;
  return "its rank is now among those to keep";
}

async function outranked(
  index: Pick<Index, "saves">,
  task: string,
): Promise<ReadonlyMap<string, CondemnGrounds>> {
  const given = condemned(await index.saves(task), savesPolicy, true);
  const grounds = { policy: savesPolicy, experiment: "" };
  return new Map(
    [...given].map(([id, competitors]) => [id, { ...grounds, competitors: [...competitors] }]),
  );
}
