/**
 * Decides whether the value of a checkpoint may still arrive. Training does not wait for the metrics service, so the
 * validation of a checkpoint may be in the run's spool long after the checkpoint is complete.
 *
 * The spool is delivered in order, and each declaration and the run's end name the last validation that the run
 * recorded before. So when the log has the validation that the run's next declaration names, or a later one of the same
 * node, it has all validations from between the two declarations: a checkpoint without a value will get none. The end
 * of the run proves the same for its last checkpoint. "" names no validation and is satisfied at once, so the
 * checkpoints of a script that never validates are judged while it runs.
 *
 * An end that names nothing (the host was lost), or a validation that never arrives (the service refused it, or a later
 * run repeats its step), is waited for until a fixed time after the run's end.
 */
import { parseReportKey } from "@trainyard/kernel";
import { gcLimits } from "../../limits.ts";

/** The facts of the log about the run of a checkpoint that has no validation of this run at its step. */
export type RunOfCheckpoint = {
  readonly id: string;
  /** The last validation that the run's next declaration names, "" for none; null without a next declaration. */
  readonly next: string | null;
  /** The end of the run, and the last validation that it names, "" for none; null if it is unknown. */
  readonly end: { readonly lastValidation: string | null; readonly endedMs: number } | null;
  /** The highest number of the run's validations in the log, by the rank of the node that recorded them. */
  readonly arrived: Readonly<Record<string, number>>;
};

/** Returns, as a sentence, what is waited for; undefined if the checkpoint has no value and will get none. */
export function awaitedOf(
  { id, next, end, arrived }: RunOfCheckpoint,
  nowMs: number,
): string | undefined {
  const named = [next, end?.lastValidation ?? null].filter((key) => key !== null);
  if (named.some((key) => hasArrived(key, arrived))) return undefined;
  if (end !== null && nowMs - end.endedMs >= gcLimits.valueAwaitedMs) return undefined;
  const [key] = named;
  const why =
    key !== undefined
      ? `the run's reports up to ${key} have not arrived`
      : end === null
        ? `run ${id} may still report it`
        : `no agent saw the end of run ${id}, so its reports may still arrive`;
  return `its validation is not known yet: ${why}`;
}

function hasArrived(named: string, arrived: Readonly<Record<string, number>>): boolean {
  const key = parseReportKey(named);
  return key === null || (arrived[key.nodeRank] ?? 0) >= key.number;
}
