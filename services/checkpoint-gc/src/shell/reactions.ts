/** Others' events to condemnations. What an experiment's policy gives up is looked at when it ends, and again when something stops to need it. */
import { type Clock, assert, isRejection, parseTrialId } from "@trainyard/kernel";
import type { ReactionHandlers, Work } from "@trainyard/runtime";
import { condemned } from "../core/policy/condemned.ts";
import { referencesChecked } from "../core/policy/references.ts";
import type { Index } from "./index-view.ts";
import { needOf, needOfUnsettled } from "./needs.ts";
import { checkpoints, experiments, retentions, trials } from "../streams.ts";

export type ReactionDeps = {
  readonly index: Index;
  readonly clock: Clock;
  readonly graceMs: number;
};

export function reactionHandlers(deps: ReactionDeps): ReactionHandlers {
  return {
    ExperimentEnded: ({ id, stored }, work) => sweep(deps, work, id, stored.position),
    TrialEnded: async ({ id, stored }, work) => {
      const { warmStart } = await work.load(trials, id);
      if (warmStart !== "") await sweepAround(deps, work, warmStart, stored.position);
    },
    CheckpointUnpinned: ({ id, stored }, work) => sweepAround(deps, work, id, stored.position),
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
  { index, clock, graceMs }: ReactionDeps,
  work: Work,
  experiment: string,
  position: number,
): Promise<void> {
  const facts = await work.guard(experiments, experiment);
  if (!facts.ended) return;
  await index.view.reach(position);
  const candidates = await index.candidates(experiment, facts.metric);
  const given = condemned(candidates, facts.policy, facts.smallerIsBetter);
  const graceEndMs = clock.nowMs() + graceMs;
  const { policy } = facts;
  for (const [checkpoint, competitors] of given) {
    if ((await needOf(work, index, checkpoint)) !== null) continue;
    const condemnation = { policy, competitors, referencesChecked, graceEndMs, experiment };
    const decided = await work.decide(retentions, checkpoint, { kind: "condemn", condemnation });
    assert(!isRejection(decided), `checkpoint ${checkpoint} may be condemned`);
    await work.part();
  }
}
