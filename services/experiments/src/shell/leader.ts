import type { StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import type { CommandTable, DeletionGate, Logger, Term, TermContext } from "@trainyard/runtime";
import { Awaiting, awaitingCheck, awaitingTasksFold } from "./awaiting.ts";
import { commandTable } from "./commands.ts";
import { openDeletions } from "./deletions.ts";
import type { TryDelays } from "../core/trial/tries.ts";
import type { ExperimentIds } from "./experiment-ids.ts";
import { limits } from "../limits.ts";
import { FanOuts } from "./fan-outs.ts";
import { reactionHandlers } from "./reactions.ts";
import { allocations } from "../streams.ts";
import { taskCommands } from "./task-commands.ts";
import { unendedCheck, UnendedTasks } from "./unended-tasks.ts";

export type TermDeps = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: ExperimentIds;
  /** The time in which a deletion can be undone. */
  readonly deletionGraceMs: number;
  /** The delays of runs that follow a failed one. */
  readonly delays: TryDelays;
  readonly hold: DeletionGate;
  /** The most unended tasks of a workspace. */
  readonly tasksPerWorkspaceMax: number;
  readonly count: (event: StoredEvent) => void;
  readonly onParked: () => void;
  /** Default: the value in the limits. */
  readonly trialsPerReactionMax?: number;
};

const consumer = "experiments";

/**
 * The work of the partition's leader. Decisions about trials are reactions, one after the other in log order. Commands
 * to thousands of trials are fan-outs beside the reactions, and a loop requests runs whose wait is over. A command of a
 * person only writes to the experiment's stream.
 */
export function beginTerm(deps: TermDeps): (context: TermContext) => Promise<Term> {
  const { logger, ids, count, trialsPerReactionMax } = deps;
  return async ({ log, executor }) => {
    executor.cache.follow(allocations);
    const awaiting = await Awaiting.open({ ...deps, log, executor });
    const fanOuts = await FanOuts.open({ ...deps, log, executor, waits: awaiting }, consumer);
    const unended = await UnendedTasks.open({ ...deps, log });
    const deletions = await openDeletions({ ...deps, log, executor });
    return {
      reactions: {
        eventsTogetherMax: limits.eventsTogetherMax,
        handlers: reactionHandlers(awaiting, fanOuts, trialsPerReactionMax),
        after: (event) => {
          count(event);
          fanOuts.observe(event);
          awaiting.dues.observe(event);
          awaiting.taskDues.observe(event);
          deletions.observe(event);
          unended.observe(event);
        },
      },
      commands: {
        ...commandTable(executor, ids, deps),
        ...taskCommands(executor, ids, unended, awaiting),
      } satisfies CommandTable<"experiments">,
      checks: [
        awaitingCheck(log, logger),
        awaitingCheck(log, logger, awaitingTasksFold),
        unendedCheck(log, logger),
      ],
      loops: [fanOuts.loop, awaiting.dues.loop, awaiting.taskDues.loop, deletions.loop],
    };
  };
}
