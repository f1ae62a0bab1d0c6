/** The commands of checkpoint-gc: people's deletions, their retention policies, and the previews of both. */
import { problemOfGlob } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type {
  DeleteCheckpoint,
  DeletionPlanned,
  SetRetentionPolicy,
} from "@trainyard/contracts/commands";
import {
  type Clock,
  isCheckpointId,
  isRejection,
  parseTrialId,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import {
  accepted,
  type CommandContext,
  type Executor,
  foldOf,
  type CommandTable,
} from "@trainyard/runtime";
import { referencesChecked } from "../core/retention-rule/references.ts";
import { gcLimits } from "../limits.ts";
import { explain, type ExplainDeps } from "./explain.ts";
import type { JudgeDeps } from "./condemn-by-policy.ts";
import { previewDeletion } from "./preview.ts";
import { needOf } from "./needs.ts";
import { checkpoints, experiments, policies, retentions } from "../streams.ts";

export type CommandDeps = JudgeDeps &
  ExplainDeps & {
    readonly executor: Executor;
    readonly clock: Clock;
  };

export function commandTable(deps: CommandDeps): CommandTable<"checkpoint-gc"> {
  return {
    DeleteCheckpoint: (request, context) => deleteCheckpoint(deps, request, context),
    SetRetentionPolicy: (request, context) => setPolicy(deps, request, context),
    PreviewExperimentDeletion: ({ experiment }) => previewDeletion(deps, experiment),
    ExplainRetention: (request) => explain(deps, request),
  };
}

/**
 * Deletes a checkpoint, or some of its files, for a person. Refused while something needs the checkpoint; the deletion
 * of a whole checkpoint waits for the grace, like one by a policy.
 */
async function deleteCheckpoint(
  deps: CommandDeps,
  request: Plain<DeleteCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<DeletionPlanned> | Rejection> {
  const { checkpoint, reason, globs } = request;
  const problem = problemOf(request);
  if (problem !== null) return problem;
  const { executor, index, clock, time } = deps;
  await index.view.reach(await deps.log.head());
  // A refusal appends nothing, so no guard would notice a stale state.
  executor.cache.forget(streamName("checkpoint", checkpoint));
  await time.look();
  // The log's time is late until the first event after a start is seen.
  const graceEndMs = Math.max(time.nowMs(), clock.nowMs()) + deps.graceMs;
  const by = identity.meta.authid;
  const result = await executor.execute(identity, async (work) => {
    const facts = await work.guard(checkpoints, checkpoint);
    if (!facts.declared) return unknownCheckpoint(checkpoint);
    if (!facts.complete) {
      const detail = `checkpoint ${checkpoint} is not complete; the registry removes it in time`;
      return reject("checkpoint_not_complete", detail);
    }
    const { status } = await work.load(foldOf(retentions), checkpoint);
    if (status === "deleting" || status === "deleted") {
      return reject("checkpoint_deleted", `the deletion of checkpoint ${checkpoint} has started`);
    }
    const need = await needOf(work, index, checkpoint);
    if (need !== null) {
      return reject("checkpoint_needed", `checkpoint ${checkpoint} cannot be deleted: ${need}`);
    }
    const condemnation = {
      competitors: [],
      referencesChecked: [...referencesChecked],
      graceEndMs,
      experiment: parseTrialId(facts.trial)?.experiment ?? "",
      by,
      reason,
    };
    const decided = await work.decide(
      retentions,
      checkpoint,
      globs.length === 0
        ? { kind: "condemn", condemnation }
        : { kind: "delete_files", globs, by, reason },
    );
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  const { state } = await executor.cache.load(foldOf(retentions), checkpoint);
  return { position: result.position, graceEndMs: state.graceEndMs };
}

function problemOf({ checkpoint, reason, globs }: Plain<DeleteCheckpoint>): Rejection | null {
  if (!isCheckpointId(checkpoint)) return unknownCheckpoint(checkpoint);
  if (reason.length > gcLimits.reasonCharactersMax) return tooLong();
  if (globs.length > gcLimits.globsMax) {
    return reject("invalid_request", `a request has at most ${gcLimits.globsMax} patterns`);
  }
  for (const glob of globs) {
    const problem = problemOfGlob(glob);
    if (problem !== null) return reject("invalid_request", problem);
  }
  return null;
}

function unknownCheckpoint(checkpoint: string): Rejection {
  return reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
}

function tooLong(): Rejection {
  const detail = `a reason has at most ${gcLimits.reasonCharactersMax} characters`;
  return reject("invalid_request", detail);
}

async function setPolicy(
  { executor }: CommandDeps,
  { experiment, policy, reason }: Plain<SetRetentionPolicy>,
  { identity }: CommandContext,
) {
  if (policy === undefined) return reject("invalid_request", "policy is missing");
  if (reason.length > gcLimits.reasonCharactersMax) return tooLong();
  executor.cache.forget(streamName("experiment", experiment));
  const by = identity.meta.authid;
  return accepted(
    await executor.execute(identity, async (work) => {
      const { exists } = await work.guard(experiments, experiment);
      if (!exists) return reject("experiment_not_found", `there is no experiment ${experiment}`);
      const decided = await work.decide(policies, experiment, { policy, by, reason });
      return isRejection(decided) ? decided : undefined;
    }),
  );
}
