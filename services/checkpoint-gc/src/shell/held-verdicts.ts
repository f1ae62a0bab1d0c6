import type { Plain } from "@trainyard/contracts";
import type { RetentionVerdict } from "@trainyard/contracts/commands";
import type { EventLog } from "@trainyard/event-log";
import { recordedHold } from "@trainyard/runtime";

/** Says in the verdicts of checkpoints that wait for their deletion that deletions are held. */
export async function withHold(
  log: Pick<EventLog, "read">,
  verdicts: readonly Plain<RetentionVerdict>[],
): Promise<Plain<RetentionVerdict>[]> {
  const waits = ({ state }: Plain<RetentionVerdict>) =>
    state === "condemned" || state === "deleting";
  const { hold } = verdicts.some(waits) ? await recordedHold(log) : { hold: null };
  if (hold === null) return [...verdicts];
  const reason = `deletions are held: ${hold.detail}`;
  return verdicts.map((verdict) => (waits(verdict) ? { ...verdict, waits: reason } : verdict));
}
