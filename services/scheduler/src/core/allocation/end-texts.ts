/**
 * The texts of a training process and its agents about an end, shortened to fit an event: the log refuses a body of
 * more than 256 KiB, and the end of a run must never be refused.
 */
import type { Plain } from "@trainyard/contracts";
import type { EndRecord, Exit } from "@trainyard/contracts/events";
import { storableText } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import type { AllocationCommand } from "./state.ts";

export type End = AllocationCommand & { readonly kind: "end" };

/** Keeps all parts and shortens each text; the texts of many nodes share the limit. */
export function cutEnd({ kind, cause, exits, endRecord, message, unsaved }: End): End {
  const each = Math.floor(limits.exitMessagesCharsMax / Math.max(1, exits.length));
  const charactersMax = Math.min(limits.messageCharsMax, each);
  return {
    kind,
    cause,
    exits: exits.map((exit) => cutExit(exit, charactersMax)),
    endRecord: endRecord === null ? null : cutRecord(endRecord, limits.messageCharsMax),
    message: storableText(message, limits.messageCharsMax),
    ...(unsaved === undefined ? {} : { unsaved: storableText(unsaved, limits.messageCharsMax) }),
  };
}

/** Keeps only the parts that say how the run ended, for a log that refused the complete event. */
export function barestEnd({ kind, cause, endRecord, message, fault, unsaved }: End): End {
  return {
    ...(fault === undefined ? {} : { fault }),
    kind,
    cause,
    exits: [],
    endRecord: endRecord === null ? null : cutRecord(endRecord, limits.barestCharsMax),
    message: storableText(message, limits.barestCharsMax),
    ...(unsaved === undefined ? {} : { unsaved: storableText(unsaved, limits.barestCharsMax) }),
  };
}

/** The kernel's name of a signal; any other text is invalid. */
const signalName = /^SIG[A-Z0-9+]{1,12}$/;

function cutExit(exit: Plain<Exit>, charactersMax: number): Plain<Exit> {
  return {
    ...exit,
    signal: signalName.test(exit.signal) ? exit.signal : "",
    message: storableText(exit.message, charactersMax),
  };
}

function cutRecord(record: Plain<EndRecord>, charactersMax: number): Plain<EndRecord> {
  return { ...record, message: storableText(record.message, charactersMax) };
}
