import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import type { Logger, Term, TermContext } from "@trainyard/runtime";
import { Awaiting } from "./awaiting.ts";
import { awaitingCheck } from "./awaiting-check.ts";
import { commandTable } from "./commands.ts";
import type { ExperimentIds } from "./experiment-ids.ts";
import { reactionHandlers } from "./reactions.ts";

export type TermDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: ExperimentIds;
  readonly count: (event: StoredEvent) => void;
};

/**
 * What the holder of the partition does. All decisions about trials are reactions, one after the other in log order, save
 * that a run which has waited long enough is requested when its time comes; commands only write what people want of an
 * experiment.
 */
export function beginTerm(deps: TermDeps): (context: TermContext) => Promise<Term> {
  const { log, clock, ids, count } = deps;
  return async ({ executor }) => {
    const awaiting = await Awaiting.open({ ...deps, executor });
    return {
      reactions: {
        consumer: "experiments",
        handlers: reactionHandlers(clock),
        after: (event) => {
          count(event);
          awaiting.observe(event);
        },
      },
      commands: commandTable(executor, ids),
      checks: [awaitingCheck(log)],
      effects: (signal) => awaiting.loop.run(signal),
    };
  };
}
