/** Applies an experiment's retention policy: while the experiment runs, when it has ended, and for the preview. */
import { assert, isRejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { Policy } from "../core/foreign/experiment.ts";
import { condemned } from "../core/retention-rule/condemned.ts";
import { referencesChecked } from "../core/retention-rule/references.ts";
import type { Condemnation } from "../core/retention/state.ts";
import type { Index } from "./index-view.ts";
import type { LogTime } from "./log-time.ts";
import { needOf, type Reader } from "./needs.ts";
import { experiments, policies, retentions } from "../streams.ts";

export type JudgeDeps = {
  readonly index: Index;
  readonly time: LogTime;
  readonly graceMs: number;
};

/** A checkpoint that is given up: the policy or the person, and the competitors that outrank it. */
export type CondemnGrounds = Pick<Condemnation, "policy" | "competitors" | "experiment"> &
  Partial<Pick<Condemnation, "by" | "reason">>;

/** Returns the policy that a person has set, or else the one in the configuration. */
export async function policyOf(work: Reader, experiment: string): Promise<Policy> {
  const { policy } = await work.guard(foldOf(policies), experiment);
  return policy ?? (await work.guard(experiments, experiment)).policy;
}

/** Returns the checkpoints that the policy gives up, whether something needs them or not. */
export async function judged(
  { index, time }: { readonly index: Pick<Index, "candidates">; readonly time: LogTime },
  work: Reader,
  experiment: string,
): Promise<ReadonlyMap<string, CondemnGrounds>> {
  const { metric, smallerIsBetter } = await work.guard(experiments, experiment);
  const policy = await policyOf(work, experiment);
  await time.look();
  const candidates = await index.candidates(experiment, metric, time.nowMs());
  const given = condemned(candidates, policy, smallerIsBetter);
  return new Map(
    [...given].map(([id, competitors]) => [
      id,
      { policy, competitors: [...competitors], experiment },
    ]),
  );
}

/** Condemns a checkpoint unless something needs it. The caller has looked at the log's time. */
export async function condemn(
  { index, time, graceMs }: JudgeDeps,
  work: Work,
  checkpoint: string,
  given: CondemnGrounds,
): Promise<void> {
  // A condemned checkpoint is not checked again here: its references are checked when its grace is over.
  if ((await work.load(foldOf(retentions), checkpoint)).status !== "kept") return;
  if ((await needOf(work, index, checkpoint)) !== null) return;
  const graceEndMs = time.nowMs() + graceMs;
  const condemnation = {
    by: "",
    reason: "",
    ...given,
    referencesChecked: [...referencesChecked],
    graceEndMs,
  };
  const decided = await work.decide(retentions, checkpoint, { kind: "condemn", condemnation });
  assert(!isRejection(decided), `checkpoint ${checkpoint} may be condemned`);
}

/** Condemns, without a grace, all checkpoints of a deleted experiment or task that nothing needs. */
export async function condemnAll(
  deps: JudgeDeps,
  work: Work,
  owner: string,
  why: Required<Pick<CondemnGrounds, "experiment" | "by" | "reason">>,
): Promise<void> {
  await deps.time.look();
  const policy = { saveExperimentBest: 0, saveTrialBest: 0, saveTrialLatest: 0 };
  for (const checkpoint of await deps.index.kept(owner)) {
    await condemn({ ...deps, graceMs: 0 }, work, checkpoint, { policy, competitors: [], ...why });
    await work.part();
  }
}
