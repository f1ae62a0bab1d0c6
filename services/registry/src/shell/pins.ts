/**
 * Pins of people: a pinned checkpoint is not deleted. A pin guards against a concurrent deletion, so one of the two is
 * refused.
 */
import type { Plain } from "@trainyard/contracts";
import type { Accepted, PinCheckpoint, UnpinCheckpoint } from "@trainyard/contracts/commands";
import { isCheckpointId, isRejection, type Rejection, reject, streamName } from "@trainyard/kernel";
import { accepted, type CommandContext, foldOf } from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { checkpoints, retentions } from "../streams.ts";

/** Model versions are holders as well; they release their pins themselves. */
const versionHolder = "model-version:";

export async function pinCheckpoint(
  { executor }: CommandDeps,
  { checkpoint, reason, condemnedOnly }: Plain<PinCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  const { pinReasonCharactersMax: most } = registryLimits;
  if (!isCheckpointId(checkpoint)) return unknown(checkpoint);
  if (reason.length > most) {
    return reject("invalid_request", `the reason may have at most ${most} characters`);
  }
  executor.cache.forget(streamName("retention", checkpoint));
  return accepted(
    await executor.execute(identity, async (work) => {
      if ((await work.load(foldOf(checkpoints), checkpoint)).declared === null) {
        return unknown(checkpoint);
      }
      const { deleted, condemned } = await work.guard(retentions, checkpoint);
      if (deleted) return reject("checkpoint_deleted", `checkpoint ${checkpoint} is deleted`);
      if (condemnedOnly && !condemned) {
        return reject("not_condemned", `checkpoint ${checkpoint} is not being deleted`);
      }
      const pin = { by: identity.meta.authid, holder: "", reason };
      const decided = await work.decide(checkpoints, checkpoint, { kind: "pin", pin });
      return isRejection(decided) ? decided : undefined;
    }),
  );
}

export async function unpinCheckpoint(
  { executor }: CommandDeps,
  { checkpoint, holder }: Plain<UnpinCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  if (!isCheckpointId(checkpoint)) return unknown(checkpoint);
  if (holder.startsWith(versionHolder)) {
    const detail = `${holder} pins checkpoint ${checkpoint} as long as the version exists`;
    return reject("held_by_version", detail);
  }
  return accepted(
    await executor.execute(identity, async (work) => {
      const { declared, pins } = await work.load(foldOf(checkpoints), checkpoint);
      if (declared === null) return unknown(checkpoint);
      const by = identity.meta.authid;
      const wanted = holder === "" ? by : holder;
      if (!pins.some((pin) => pin.holder === "" && pin.by === wanted)) {
        return reject("pin_not_found", `${wanted} has not pinned checkpoint ${checkpoint}`);
      }
      const decided = await work.decide(checkpoints, checkpoint, {
        kind: "unpin",
        pin: { by, holder },
      });
      return isRejection(decided) ? decided : undefined;
    }),
  );
}

function unknown(checkpoint: string): Rejection {
  return reject("checkpoint_not_found", `there is no checkpoint ${checkpoint}`);
}
