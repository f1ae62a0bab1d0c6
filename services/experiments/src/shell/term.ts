import type { Term, TermContext } from "@trainyard/runtime";
import type { StoredEvent } from "@trainyard/event-log";
import { commandTable } from "./commands.ts";
import type { ExperimentIds } from "./experiment-ids.ts";
import { reactionHandlers } from "./reactions.ts";

export type TermDeps = {
  readonly ids: ExperimentIds;
  readonly count: (event: StoredEvent) => void;
};

/**
 * What the holder of the partition does. All decisions about trials are reactions, one after the other in log order;
 * commands only write what people want of an experiment.
 */
export function beginTerm({ ids, count }: TermDeps): (context: TermContext) => Promise<Term> {
  return async ({ executor }) => ({
    reactions: { consumer: "experiments", handlers: reactionHandlers(), after: count },
    commands: commandTable(executor, ids),
  });
}
