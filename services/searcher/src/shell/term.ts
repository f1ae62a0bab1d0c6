import type { EventLog, StoredEvent } from "@trainyard/event-log";
import {
  foldOf,
  type Logger,
  snapshotCheck,
  type Term,
  type TermContext,
} from "@trainyard/runtime";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { searches } from "./searches.ts";
import { saveSnapshots } from "./snapshots.ts";

export type TermDeps = {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly count: (event: StoredEvent) => void;
};

/** What the holder of the partition does: it reacts, and takes no commands of its own. */
export function beginTerm({
  log,
  logger,
  count,
}: TermDeps): (context: TermContext) => Promise<Term> {
  return async ({ executor }) => {
    const save = saveSnapshots(executor.cache, logger);
    return {
      reactions: {
        consumer: "searcher",
        handlers: reactionHandlers(new RunIndex(log)),
        after: (event) => {
          save(event);
          count(event);
        },
      },
      commands: {},
      checks: [snapshotCheck("searcher", foldOf(searches), log)],
    };
  };
}
