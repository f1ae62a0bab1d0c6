/** The records of a run that the SDK wrote into its folder. The user can overwrite them. */
import { codecOf, type Plain } from "@trainyard/contracts";
import { type EndRecord, EndRecordSchema } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { parseReportKey, storableText } from "@trainyard/kernel";
import type { TaskEndRecord } from "../core/records.ts";
import { limits } from "../limits.ts";
import { readRunFile } from "./run-file.ts";

export type LastWord = {
  readonly endRecord: Plain<EndRecord> | null;
  /** The reason why an existing file has no record, as a sentence without a full stop; empty for none. */
  readonly problem: string;
};

const endRecords = codecOf<Plain<EndRecord>>(EndRecordSchema);

const endReasons: readonly EndReason[] = [
  EndReason.FINISHED,
  EndReason.ACKNOWLEDGED_STOP,
  EndReason.INVALID_HYPERPARAMETERS,
  EndReason.ERROR,
];

function endRecordOf(text: string): Plain<EndRecord> | null {
  try {
    const said = endRecords.decode(text);
    // A number could be a reason that this version does not know.
    if (!endReasons.includes(said.reason)) return null;
    return { ...said, message: storableText(said.message, limits.endMessageCharsMax) };
  } catch {
    return null;
  }
}

/** The end record; if it cannot be read, only the exit code counts. */
export function lastWordIn(runDir: string): LastWord {
  const written = readRunFile(runDir, "end.json", limits.endRecordBytesMax);
  if (written === null) return { endRecord: null, problem: "" };
  if (typeof written === "number") {
    const problem = `its end.json has ${written} bytes and may have ${limits.endRecordBytesMax}, so it was not read`;
    return { endRecord: null, problem };
  }
  return { endRecord: endRecordOf(written.toString("utf8")), problem: "" };
}

const reasonsOfTask = { error: EndReason.ERROR, idle: EndReason.IDLE } as const;

/** The end record that the agent wrote for the run of a task; null if the task ended by itself. */
export function lastWordOfTask(end: TaskEndRecord | null): LastWord {
  if (end === null) return { endRecord: null, problem: "" };
  const message = storableText(end.message, limits.endMessageCharsMax);
  return { endRecord: { reason: reasonsOfTask[end.reason], message }, problem: "" };
}

/**
 * The report key of the last validation that the run recorded; empty for none, as without the SDK. Null if the file has
 * anything else.
 */
export function lastValidationIn(runDir: string): string | null {
  const written = readRunFile(runDir, "spool/last-validation", limits.lastValidationBytesMax);
  if (written === null) return "";
  if (typeof written === "number") return null;
  const key = written.toString("latin1").trim();
  return key === "" || parseReportKey(key) !== null ? key : null;
}
