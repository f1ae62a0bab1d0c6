import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import type { CheckpointCommand, ManifestSummary } from "./commands.ts";
import { isSameRun, type Maker, runOf } from "../maker.ts";
import { evolveCheckpoint, initialCheckpoint } from "./evolve.ts";
import {
  type CheckpointEvent,
  type CheckpointState,
  type Declared,
  holderOf,
  type Pin,
} from "./state.ts";

type Decision = readonly CheckpointEvent[] | Rejection;

const alreadySo: Decision = [];

export const checkpointDecider: Decider<CheckpointState, CheckpointCommand, CheckpointEvent> = {
  initial: initialCheckpoint,
  evolve: evolveCheckpoint,
  decide(state, command) {
    switch (command.kind) {
      case "declare":
        return declare(state, command.declared);
      case "complete":
        return complete(state, command.manifest);
      case "fail":
        if (state.status !== "declared") return alreadySo;
        return [{ type: "CheckpointFailed", data: { reason: command.reason } }];
      case "abandon":
        if (state.status !== "declared") return alreadySo;
        return [{ type: "CheckpointAbandoned", data: { reason: command.reason } }];
      case "pin":
        return pin(state, command.pin);
      case "unpin": {
        const held = state.pins.some((one) => holderOf(one) === holderOf(command.pin));
        return held ? [{ type: "CheckpointUnpinned", data: command.pin }] : alreadySo;
      }
      case "note_progress": {
        const { status, declared } = state;
        if (status !== "declared" || declared === null) return alreadySo;
        return [{ type: "CheckpointUploadProgressed", data: makerIn(declared) }];
      }
      case "note_damage":
        return noteDamage(state, command);
      default:
        return assertNever(command, "a checkpoint's command");
    }
  },
};

function declare(state: CheckpointState, declared: Declared): Decision {
  if (state.declared === null) return [{ type: "CheckpointDeclared", data: declared }];
  const { step, uploadedBy } = state.declared;
  const isSame = isSameRun(state.declared, declared) && step === declared.step;
  if (!isSame || uploadedBy !== declared.uploadedBy) {
    const owner = uploadedBy ?? `run ${runOf(state.declared)}`;
    return reject(
      "checkpoint_exists",
      `${owner} declared this checkpoint at step ${step}: choose another id`,
    );
  }
  const refusal = notUsable(state);
  if (refusal !== null) return refusal;
  // A writer that learns the folder from the first answer knows its storage id only then.
  const { storageId } = declared;
  const tellsStorage = storageId !== undefined && state.declared.storageId === undefined;
  if (state.status !== "declared" || !tellsStorage) return alreadySo;
  return [{ type: "CheckpointDeclared", data: { ...state.declared, storageId } }];
}

function complete(state: CheckpointState, manifest: ManifestSummary): Decision {
  if (state.declared === null)
    return reject("checkpoint_not_found", "the checkpoint was never declared");
  if (state.status === "completed") {
    if (state.manifestDigest === manifest.digest) return alreadySo;
    return reject("checkpoint_exists", "the checkpoint is complete with another manifest");
  }
  const refusal = notUsable(state);
  if (refusal !== null) return refusal;
  const { step } = state.declared;
  const { digest, files, bytes } = manifest;
  const data = { manifestDigest: digest, files, bytes, ...makerIn(state.declared), step };
  return [{ type: "CheckpointCompleted", data }];
}

/** The fields of an event that name the maker. */
function makerIn({ trial, run, task }: Declared): Maker {
  return { trial, run, ...(task !== undefined && { task }) };
}

/** Only a complete checkpoint can be pinned: no other is ever restored from. */
function pin(state: CheckpointState, data: Pin): Decision {
  if (state.declared === null)
    return reject("checkpoint_not_found", "the checkpoint was never declared");
  if (state.status !== "completed") {
    const why = state.reason === "" ? "its files are being written" : state.reason;
    return reject("checkpoint_not_complete", `the checkpoint is not complete: ${why}`);
  }
  const isSame = state.pins.some(
    (one) => holderOf(one) === holderOf(data) && one.reason === data.reason,
  );
  if (isSame) return alreadySo;
  return [{ type: "CheckpointPinned", data }];
}

/** The reason why a checkpoint accepts no more files; null while it is being written and when it is complete. */
export function notUsable({
  status,
  reason,
}: Pick<CheckpointState, "status" | "reason">): Rejection | null {
  if (status === "failed") return reject("checkpoint_failed", reason);
  if (status === "abandoned") return reject("checkpoint_abandoned", reason);
  return null;
}

/** A finding is recorded only if it differs from the last one. */
function noteDamage(
  { status, damage: before }: CheckpointState,
  { damage, by }: CheckpointCommand & { readonly kind: "note_damage" },
): Decision {
  if (status !== "completed") {
    return reject("checkpoint_not_complete", "only a complete checkpoint can be verified");
  }
  if (damage === null) {
    return before === null ? alreadySo : [{ type: "CheckpointRepaired", data: { by } }];
  }
  if (JSON.stringify(before) === JSON.stringify(damage)) return alreadySo;
  return [{ type: "CheckpointDamaged", data: { ...damage, by } }];
}
