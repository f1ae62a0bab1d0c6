/**
 * The registry's codes that decide about a checkpoint for good. Every other refusal says something about the caller or
 * about the platform's history (a changed key, a log that went back, an older gateway), and may be answered otherwise
 * later: the checkpoint waits. The SDK has the same codes (`_checkpoint/_refusals.py`).
 */
export const finalCodes: ReadonlySet<string> = new Set([
  "checkpoint_abandoned",
  "checkpoint_deleted",
  "checkpoint_exists",
  "checkpoint_failed",
  "checkpoint_incomplete",
  "invalid_checkpoint",
  "invalid_manifest",
  "not_your_folder",
  "run_ended",
  "run_superseded",
  "storage_unsupported",
  "task_deleted",
  "work_not_kept",
]);

/** The code for a run whose grant the log does not have. The platform accepts nothing from it. */
export const historyLostCode = "history_lost";

/** The code for a checkpoint that was never declared. */
export const unknownCode = "checkpoint_not_found";

/** The code for a checkpoint that was declared and is not complete, or never will be. */
export const incompleteCode = "checkpoint_not_complete";

/** The code for a checkpoint that nobody has delivered in time. */
export const abandonedCode = "checkpoint_abandoned";
