/**
 * Reacts to other services' events with condemnations. An experiment's checkpoints are judged when it ends, and again
 * when a reference to one of them ends; the saves of a task with each new one.
 */
import { parseTrialId } from "@trainyard/kernel";
import { foldOf, type ReactionHandlers, type Work } from "@trainyard/runtime";
import { needOfPins } from "../core/retention-rule/references.ts";
import { needOfUnsettled } from "./needs.ts";
import { condemn, condemnAll, judged, type JudgeDeps } from "./condemn-by-policy.ts";
import { sweepSaves } from "./saves.ts";
import { checkpoints, experiments, retentions, trials } from "../streams.ts";

export type ReactionDeps = JudgeDeps;

export function reactionHandlers(deps: ReactionDeps): ReactionHandlers {
  return {
    ExperimentEnded: async ({ id, stored }, work) => {
      await sweep(deps, work, id, stored.position);
      const { source } = await work.load(experiments, id);
      if (source !== "") await sweepAround(deps, work, source, stored.position);
    },
    TrialEnded: async ({ id, stored }, work) => {
      const { warmStart } = await work.load(trials, id);
      if (warmStart !== "") await sweepAround(deps, work, warmStart, stored.position);
    },
    ExperimentDeletionUndone: ({ id, stored }, work) => sweep(deps, work, id, stored.position),
    ExperimentDeleted: ({ id, stored }, work) => sweep(deps, work, id, stored.position),
    TaskDeleted: ({ id, stored }, work) => sweepSaves(deps, work, id, stored.position),
    RetentionPolicySet: ({ id, stored }, work) => sweep(deps, work, id, stored.position),
    CheckpointPinned: async ({ id }, work) => {
      const { status } = await work.load(foldOf(retentions), id);
      const need = needOfPins(await work.guard(checkpoints, id));
      if (status !== "condemned" || need === null) return;
      await work.decide(retentions, id, { kind: "spare", reason: need });
    },
    CheckpointUnpinned: ({ id, stored }, work) => sweepAround(deps, work, id, stored.position),
    CheckpointRepaired: ({ id, stored }, work) => sweepAround(deps, work, id, stored.position),
    CheckpointCompleted: ({ id, stored }, work) => settled(deps, work, id, stored.position),
    CheckpointFailed: ({ id, stored }, work) => settled(deps, work, id, stored.position),
    CheckpointAbandoned: ({ id, stored }, work) => settled(deps, work, id, stored.position),
  };
}

/** Judges the experiment again once the last checkpoint that a run's end named is settled, since it competes. */
async function settled(
  deps: ReactionDeps,
  work: Work,
  checkpoint: string,
  position: number,
): Promise<void> {
  const { trial, task } = await work.load(checkpoints, checkpoint);
  if (task !== "") return sweepSaves(deps, work, task, position);
  if (trial === "") return;
  const { named } = await work.load(trials, trial);
  const experiment = parseTrialId(trial)?.experiment ?? "";
  const isGone = (await work.load(experiments, experiment)).deletion === "done";
  if (!isGone && !named.includes(checkpoint)) return;
  if ((await needOfUnsettled(work, trial)) !== null) return;
  await sweepAround(deps, work, checkpoint, position);
}

async function sweepAround(
  deps: ReactionDeps,
  work: Work,
  checkpoint: string,
  position: number,
): Promise<void> {
  const { trial, task } = await work.load(checkpoints, checkpoint);
  if (task !== "") return sweepSaves(deps, work, task, position);
  const experiment = parseTrialId(trial)?.experiment;
  if (experiment !== undefined) await sweep(deps, work, experiment, position);
}

/**
 * Condemns the checkpoints of an ended experiment that its policy gives up and nothing needs. For a deleted experiment,
 * condemns all that nothing needs.
 */
async function sweep(
  deps: ReactionDeps,
  work: Work,
  experiment: string,
  position: number,
): Promise<void> {
  const { ended, deletion } = await work.guard(experiments, experiment);
  if (!ended || deletion === "asked") return;
  await deps.index.view.reach(position);
  if (deletion === "done") {
    const why = { by: `experiment-${experiment}`, reason: "its experiment was deleted" };
    return condemnAll(deps, work, experiment, { experiment, ...why });
  }
  for (const [checkpoint, given] of await judged(deps, work, experiment)) {
    await condemn(deps, work, checkpoint, given);
    await work.part();
  }
}
