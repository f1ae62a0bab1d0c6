/**
 * The checkpoints that a trial's last run has sealed and that are not stored yet. The end of a run names them, and each
 * leaves the list when the registry settles it. A later run starts without those that are left, so the list then ends.
 */
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoint, UndeliveredCheckpoints } from "@trainyard/contracts/events";
import type { DocumentSet, TrialDocument } from "./documents.ts";

/** Adds checkpoints that a run has left, except those that are settled already. */
export function addSealed(
  documents: DocumentSet,
  trial: string,
  named: readonly Plain<SealedCheckpoint>[] = [],
): void {
  const left = named.filter(({ checkpoint }) => {
    const { state = "ACTIVE" } = documents.get("checkpoint", checkpoint) ?? {};
    return state === "ACTIVE";
  });
  if (left.length === 0) return;
  documents.update("trial", trial, ({ sealed = [] }) => {
    const known = new Set(sealed.map(({ checkpoint }) => checkpoint));
    return { sealed: [...sealed, ...left.filter(({ checkpoint }) => !known.has(checkpoint))] };
  });
}

/** Removes a checkpoint that is complete, failed or abandoned. */
export function removeSealed(documents: DocumentSet, trial: string, settled: string): void {
  const { sealed = [] } = documents.get("trial", trial) ?? {};
  if (!sealed.some(({ checkpoint }) => checkpoint === settled)) return;
  const left = sealed.filter(({ checkpoint }) => checkpoint !== settled);
  documents.update("trial", trial, () => ({ sealed: left }));
}

export function undeliveredOf({ sealed = [] }: Pick<TrialDocument, "sealed">): {
  readonly undelivered?: Plain<UndeliveredCheckpoints>;
} {
  if (sealed.length === 0) return {};
  const bytes = sealed.reduce((sum, one) => sum + one.bytes, 0);
  return { undelivered: { checkpoints: sealed.length, bytes, runs: [] } };
}
