import { parseTrialId } from "@trainyard/kernel";
import type { Projections } from "./projections.ts";

export const checkpointProjections: Projections = {
  CheckpointDeclared({ id, data, timeMs }, documents) {
    const experiment = parseTrialId(data.trial)?.experiment ?? "";
    documents.put({
      kind: "checkpoint",
      id,
      parent: experiment,
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
        ...(data.metadata === undefined ? {} : { metadata: data.metadata }),
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
  },
  CheckpointFailed({ id, data }, documents) {
    documents.update("checkpoint", id, () => ({ state: "ERROR", reason: data.reason }));
  },
  CheckpointAbandoned({ id, data }, documents) {
    documents.update("checkpoint", id, () => ({ state: "ERROR", reason: data.reason }));
  },
  CheckpointCondemned({ id }, documents) {
    documents.update("checkpoint", id, () => ({ state: "CONDEMNED" }));
  },
  CheckpointSpared({ id, data }, documents) {
    documents.update("checkpoint", id, () => ({ state: "COMPLETED", reason: data.reason }));
  },
  CheckpointDeletionStarted({ id }, documents) {
    documents.update("checkpoint", id, () => ({ state: "CONDEMNED", reason: "is being deleted" }));
  },
  CheckpointDeleted({ id }, documents) {
    documents.update("checkpoint", id, () => ({ state: "DELETED", reason: "" }));
  },
};
