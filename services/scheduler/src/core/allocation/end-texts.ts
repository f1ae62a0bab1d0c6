/**
 * The texts of a training process and its agents about an end, as the event takes them: the log refuses a body of more
 * than 256 KiB, and the end of a run must always be one that it takes.
 */
import type { Plain } from "@trainyard/contracts";
import type { EndRecord, Exit } from "@trainyard/contracts/events";
import { storableText } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import type { AllocationCommand } from "./state.ts";

export type End = AllocationCommand & { readonly kind: "end" };

/** All of it, each text cut; the texts of many nodes share what there is for them. */
export function cutEnd({ kind, cause, exits, endRecord, message }: End): End {
  const each = Math.floor(limits.exitMessagesCharsMax / Math.max(1, exits.length));
  const charactersMax = Math.min(limits.messageCharsMax, each);
  return {
    kind,
    cause,
    exits: exits.map((exit) => cutExit(exit, charactersMax)),
    endRecord: endRecord === null ? null : cutRecord(endRecord, limits.messageCharsMax),
    message: storableText(message, limits.messageCharsMax),
  };
}

/** Keeps the least that says how it ended, for a log that refused the whole. */
export function barestEnd({ kind, cause, endRecord, message }: End): End {
  return {
    kind,
    cause,
    exits: [],
    endRecord: endRecord === null ? null : cutRecord(endRecord, limits.barestCharsMax),
    message: storableText(message, limits.barestCharsMax),
  };
}

/** The kernel's name of the signal; any other text is none. */
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
