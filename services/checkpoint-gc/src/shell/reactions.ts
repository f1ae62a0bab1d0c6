/** Others' events to condemnations. What an experiment's policy gives up is looked at when it ends, and again when something stops to need it. */
import { parseTrialId } from "@trainyard/kernel";
import { foldOf, type ReactionHandlers, type Work } from "@trainyard/runtime";
import { needOfPins } from "../core/policy/references.ts";
import { needOfUnsettled } from "./needs.ts";
import { condemn, judged, type JudgeDeps } from "./judge.ts";
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

/** The last that a trial's end had named is settled: what was not judged before is judged now, and it competes. */
async function settled(
  deps: ReactionDeps,
  work: Work,
  checkpoint: string,
  position: number,
): Promise<void> {
  const { trial } = await work.load(checkpoints, checkpoint);
  if (trial === "") return;
  const { named } = await work.load(trials, trial);
  if (!named.includes(checkpoint) || (await needOfUnsettled(work, trial)) !== null) return;
  await sweepAround(deps, work, checkpoint, position);
}

async function sweepAround(
  deps: ReactionDeps,
  work: Work,
  checkpoint: string,
  position: number,
): Promise<void> {
  const { trial } = await work.load(checkpoints, checkpoint);
  const experiment = parseTrialId(trial)?.experiment;
  if (experiment !== undefined) await sweep(deps, work, experiment, position);
}

/** Condemns what the policy of an ended experiment gives up and nothing needs. */
async function sweep(
  deps: ReactionDeps,
  work: Work,
  experiment: string,
  position: number,
): Promise<void> {
  if (!(await work.guard(experiments, experiment)).ended) return;
  await deps.index.view.reach(position);
  for (const [checkpoint, given] of await judged(deps.index, work, experiment)) {
    await condemn(deps, work, checkpoint, given);
    await work.part();
  }
}
