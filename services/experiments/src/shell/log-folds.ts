/**
 * Folds of the whole log that are saved now and then, so that a new leader reads only the rest. A saved fold names the
 * last event that it has folded. If the log has another event at that position, the fold is of another history and is
 * ignored. That happens when the log was restored from a backup, or lost events in a failover.
 */
import type { EventLog } from "@trainyard/event-log";
import { isOfThisLog, type Logger, ofAnotherHistory } from "@trainyard/runtime";

/**
 * The part of the log that a saved text was folded from: its last event and that event's position. The event is empty
 * if the position is 0.
 */
export type LogFold = { readonly event: string; readonly position: number };

/** The snapshot's place: a stream name in a category of this service. The fold is of no single stream. */
export type LogFoldPlace = {
  readonly stream: string;
  readonly schema: string;
  /** The name of the text in messages. */
  readonly what: string;
};

/**
 * The version of every save. The log refuses a lower version than the saved one, and after a restore the positions of
 * the old history may be higher. With equal versions the latest save replaces any other. Only the leader saves, and the
 * text has its position. A late save of a former leader only makes its successor read more.
 */
const version = 0;

/** Loads a saved fold. `another_history`: the saved fold must not be continued. */
export async function loadLogFold<Fold extends LogFold>(
  { log, logger }: { readonly log: EventLog; readonly logger: Logger },
  { stream, schema, what }: LogFoldPlace,
): Promise<Fold | "none" | "another_history"> {
  const found = await log.loadSnapshot(stream, schema);
  if (found === null) return "none";
  const fold = JSON.parse(found.body) as Fold;
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
