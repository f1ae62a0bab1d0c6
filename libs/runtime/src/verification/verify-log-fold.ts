import { isDeepStrictEqual } from "node:util";
import type { EventLog } from "@trainyard/event-log";
import { LogFold, type LogFoldSpec, savedLogFold } from "../folds/log-fold.ts";
import type { Logger } from "../logging.ts";
import type { Check } from "./check.ts";
import { shownBeside } from "./shown-beside.ts";

type LogFoldCheck<Entry> = {
  readonly name: string;
  readonly fold: LogFoldSpec<Entry>;
  readonly log: EventLog;
  readonly logger: Logger;
  /** Whether the leader may have dropped an entry that no event has cancelled. Default: never. */
  readonly mayLack?: (key: string) => Promise<boolean>;
};

/** Compares a saved fold of the log with a fold from the beginning to the same position. */
export function logFoldCheck<Entry>(check: LogFoldCheck<Entry>): Check {
  const { name, fold, log, mayLack = async () => false } = check;
  return {
    name,
    run: async () => {
      const saved = await savedLogFold(check, fold);
      if (saved === null) return { position: await log.head(), finding: "" };
      const { position, entries: is } = saved;
      const becomes: Record<string, Entry> = {};
      for (const [key, entry] of await LogFold.rebuilt(check, fold, position)) {
        if (key in is || !(await mayLack(key))) becomes[key] = entry;
      }
      if (isDeepStrictEqual({ ...is }, becomes)) return { position, finding: "" };
      const [one, other] = shownBeside(JSON.stringify(is), JSON.stringify(becomes));
      return { position, finding: `it is ${one}, but a rebuild has ${other}` };
    },
  };
}
