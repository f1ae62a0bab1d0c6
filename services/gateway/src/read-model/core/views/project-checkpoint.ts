import { parseTrialId } from "@trainyard/kernel";
import type { CheckpointDocument, DocumentSet } from "./documents.ts";
import type { Projections } from "./projections.ts";
import { removeSealed } from "./unstored.ts";

export const checkpointProjections: Projections = {
  CheckpointDeclared({ id, data, timeMs }, documents) {
    const experiment = parseTrialId(data.trial)?.experiment ?? "";
    documents.put({
      kind: "checkpoint",
      id,
      parent: data.task ?? experiment,
      ordinal: timeMs,
      doc: {
        uuid: id,
        experiment,
        trial: data.trial,
        run: data.run,
        stepsCompleted: data.step,
        state: "ACTIVE",
        files: 0,
        bytes: 0,
        declaredAtMs: timeMs,
        manifest: [],
        manifestDigest: "",
        reason: "",
        pins: [],
        damage: "",
        partial: false,
        ...(data.metadata === undefined ? {} : { metadata: data.metadata }),
        ...(data.task === undefined ? {} : { task: data.task }),
        ...(data.uploadedBy === undefined ? {} : { uploadedBy: data.uploadedBy }),
      },
    });
  },
  CheckpointCompleted({ id, data, timeMs }, documents) {
    const { files, bytes, manifestDigest } = data;
    documents.update("checkpoint", id, () => ({
      state: "COMPLETED",
      files,
      bytes,
      manifestDigest,
      completedAtMs: timeMs,
    }));
    removeSealed(documents, data.trial, id);
  },
  CheckpointFailed({ id, data }, documents) {
    neverStored(documents, id, data.reason);
  },
  CheckpointAbandoned({ id, data }, documents) {
    neverStored(documents, id, data.reason);
  },
  CheckpointPinned({ id, data, timeMs }, documents) {
    const { by, reason } = data;
    const pin = { holder: data.holder || by, by, reason, pinnedAtMs: timeMs };
    documents.update("checkpoint", id, (before) => ({
      pins: [...without(before, pin.holder), pin],
    }));
  },
  CheckpointUnpinned({ id, data }, documents) {
    documents.update("checkpoint", id, (before) => ({
      pins: without(before, data.holder || data.by),
    }));
  },
  CheckpointDamaged({ id, data }, documents) {
    const [first] = data.problems;
    const more = data.count > 1 ? `, and ${data.count - 1} more problems` : "";
    const file = `the file ${JSON.stringify(first?.path ?? "")} ${first?.detail ?? "is damaged"}`;
    documents.update("checkpoint", id, (before) => settledOf(before, { damage: `${file}${more}` }));
  },
  CheckpointRepaired({ id }, documents) {
    documents.update("checkpoint", id, (before) => settledOf(before, { damage: "" }));
  },
  CheckpointCondemned({ id, data }, documents) {
    const reason = data.by === "" ? "" : `${data.by} deletes it: ${data.reason}`;
    documents.update("checkpoint", id, () => ({ state: "CONDEMNED", reason }));
  },
  CheckpointSpared({ id, data }, documents) {
    documents.update("checkpoint", id, (before) => ({
      ...settledOf(before, { condemned: false }),
      reason: data.reason,
    }));
  },
  CheckpointDeletionStarted({ id }, documents) {
    documents.update("checkpoint", id, () => ({ state: "CONDEMNED", reason: "is being deleted" }));
  },
  CheckpointDeleted({ id }, documents) {
    documents.update("checkpoint", id, () => ({ state: "DELETED", reason: "" }));
    forgetOfRemoved(documents, id);
  },
  CheckpointFilesDeletionStarted({ id, data }, documents) {
    const reason = `${data.by} deleted the files ${data.globs.join(", ")}: ${data.reason}`;
    documents.update("checkpoint", id, (before) => ({
      ...settledOf(before, { partial: true }),
      reason,
    }));
  },
};

function neverStored(documents: DocumentSet, id: string, reason: string): void {
  documents.update("checkpoint", id, () => ({ state: "ERROR", reason }));
  removeSealed(documents, documents.get("checkpoint", id)?.trial ?? "", id);
  forgetOfRemoved(documents, id);
}

/** Removes a checkpoint without files whose experiment was removed: nothing can list it. */
function forgetOfRemoved(documents: DocumentSet, id: string): void {
  const { experiment = "" } = documents.get("checkpoint", id) ?? {};
  if (experiment === "" || documents.get("experiment", experiment) !== undefined) return;
  documents.remove({ kind: "checkpoint", id });
}

function without({ pins }: CheckpointDocument, holder: string) {
  return pins.filter((pin) => pin.holder !== holder);
}

type Settled = Partial<Pick<CheckpointDocument, "damage" | "partial">> & {
  readonly condemned?: boolean;
};

/** Returns the state of a complete checkpoint from the facts about its files. */
function settledOf(
  before: CheckpointDocument,
  { condemned = before.state === "CONDEMNED", ...change }: Settled,
): Partial<CheckpointDocument> {
  const { damage, partial } = { ...before, ...change };
  if (condemned || before.state === "DELETED") return change;
  const whole = damage === "" ? "COMPLETED" : "DAMAGED";
  return { ...change, state: partial ? "PARTIALLY_DELETED" : whole, reason: damage };
}
