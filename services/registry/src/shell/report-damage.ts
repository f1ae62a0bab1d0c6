/**
 * A run's report that a checkpoint is damaged. The report alone changes nothing, because the run's host may see another
 * state (a stale cache, a wrong mount): the registry reads the files itself, as for `checkpoint verify`.
 */
import type { Plain } from "@trainyard/contracts";
import type { DamageFinding, ReportDamage } from "@trainyard/contracts/commands";
import { isCheckpointId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, foldOf } from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import { checkpoints } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { verifyCheckpoint } from "./inspect.ts";

export async function reportDamage(
  deps: CommandDeps,
  { checkpoint, trial, run, detail }: Plain<ReportDamage>,
  context: CommandContext,
): Promise<Plain<DamageFinding> | Rejection> {
  const { reasonCharactersMax } = registryLimits;
  if (detail === "" || detail.length > reasonCharactersMax) {
    return reject("invalid_request", `the detail must have 1 to ${reasonCharactersMax} characters`);
  }
  if (!isCheckpointId(checkpoint)) {
    return reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
  }
  // Each host of a run may report the same checkpoint: the files are read once.
  const { state } = await deps.executor.cache.load(foldOf(checkpoints), checkpoint);
  if (state.damage !== null) return { done: true, damaged: true };
  const verification = await verifyCheckpoint(deps, checkpoint, context);
  if (isRejection(verification)) return verification;
  const { done, count } = verification;
  if (done) deps.events.damageReported(checkpoint, `${trial}#${run}`, detail, count);
  return { done, damaged: count > 0 };
}
