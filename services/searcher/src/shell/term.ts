import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { type Logger, snapshotCheck, type Term, type TermContext } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { askingCheck } from "./asking-check.ts";
import { AskingSearches } from "./asking-searches.ts";
import { Budgets } from "./budgets.ts";
import { commandTable } from "./commands.ts";
import { limits } from "../limits.ts";
import type { SuggestingModel } from "./model/model.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { searches } from "../streams.ts";
import { saveSnapshots } from "./snapshots.ts";
import { Suggestions } from "./suggestions.ts";

export type TermDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly model: SuggestingModel;
};

/** What the holder of the partition does: it reacts, prepares suggestions, looks at the clock for budgets, and takes what clients of custom searches post. */
export function beginTerm(deps: TermDeps): (context: TermContext) => Promise<Term> {
  const { log, logger, telemetry } = deps;
  return async ({ executor }) => {
    const save = saveSnapshots(executor.cache, logger);
    const asking = await AskingSearches.open(log, logger);
    const budgets = new Budgets({ ...deps, executor }, asking.ids);
    const suggestions = new Suggestions({ ...deps, executor, asking });
    return {
      reactions: {
        consumer: "searcher",
        eventsTogetherMax: limits.eventsTogetherMax,
        handlers: reactionHandlers(new RunIndex(log), log),
        after: (event) => {
          save(event);
          telemetry.count(event);
          asking.observe(event);
          asking.saveWhenDue();
          suggestions.observe(event);
          budgets.observe(event);
        },
      },
      commands: commandTable(executor),
      checks: [snapshotCheck("searcher", searches, log), askingCheck(log, logger)],
      effects: async (signal) => {
        await Promise.all([suggestions.loop.run(signal), budgets.loop.run(signal)]);
      },
    };
  };
}
