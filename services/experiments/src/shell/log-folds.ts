/**
 * Folds of the whole log that are saved now and then, so that a new holder reads only the rest. A saved fold names the
 * event that it has reached: one of another history (the log was restored from a backup, or failed over with loss,
 * before the process that saved it had seen so) is not gone on from.
 */
import type { EventLog } from "@trainyard/event-log";
import { isOfThisLog, type Logger, ofAnotherHistory } from "@trainyard/runtime";

/**
 * The part of the log that a text is folded from: the event is its first key, its position the exact one. The event is
 * empty where it was not seen.
 */
export type LogFold = { readonly event: string; readonly position: number };

/** The fold is of no single stream; it is beside those of a category that this service owns. */
export type LogFoldPlace = {
  readonly stream: string;
  readonly schema: string;
  /** The name of the text in messages. */
  readonly what: string;
};

/**
 * The log refuses a save whose version is lower than the saved one's, and after a restore the positions of the history
 * before are the higher ones. So every save has the same version, and the latest replaces what is there, of whatever
 * history: only the holder of the lease saves, and the text says how far it has come. A late save of a former holder
 * costs its successor some reading. The schemas with a position as their version were others: "fan-outs/2",
 * "awaiting-trials/1".
 */
const version = 0;

/** `another_history`: there is one that must not be gone on from. */
export async function loadLogFold<Fold extends LogFold>(
  { log, logger }: { readonly log: EventLog; readonly logger: Logger },
  { stream, schema, what }: LogFoldPlace,
): Promise<Fold | "none" | "another_history"> {
  const found = await log.loadSnapshot(stream, schema);
  if (found === null) return "none";
  // Texts of before have no event.
  const fold = { event: "", ...(JSON.parse(found.body) as Omit<Fold, "event">) } as Fold;
  const { position } = fold;
  if (position === 0) return fold;
  const [event] = await log.readAll(position - 1, 1);
  if (isOfThisLog(found.body, event)) return fold;
  logger.error({ position, detail: ofAnotherHistory(what, position) }, "saved_fold_ignored");
  return "another_history";
}

export async function saveLogFold<Fold extends LogFold>(
  log: EventLog,
  { stream, schema }: LogFoldPlace,
  fold: Fold,
): Promise<void> {
  const { event, position, ...rest } = fold;
  const body = JSON.stringify({ event, position, ...rest });
  await log.saveSnapshot(stream, version, schema, body);
}
