import type { Clock } from "@trainyard/kernel";
import { type Logger, snapshotCheck, type Term, type TermContext } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { commandTable } from "./commands.ts";
import { limits } from "../limits.ts";
import type { SuggestingModel } from "./model/model.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";
import { searches } from "../streams.ts";
import { sideLoopCheck } from "./side-loop-searches.ts";
import { SideLoops } from "./side-loops.ts";
import { saveSnapshots } from "./snapshots.ts";

export type TermDeps = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly model: SuggestingModel;
};

/** The work of the partition's leader: reactions, commands of custom searches' clients, and the side loops. */
export function beginTerm(deps: TermDeps): (context: TermContext) => Promise<Term> {
  const { logger, telemetry } = deps;
  return async ({ log, executor }) => {
    const save = saveSnapshots(executor.cache, logger);
    const sideLoops = await SideLoops.open({ ...deps, log, executor, onParked: telemetry.parked });
    return {
      reactions: {
        eventsTogetherMax: limits.eventsTogetherMax,
        handlers: reactionHandlers(new RunIndex(log), log),
        after: (event) => {
          save(event);
          telemetry.count(event);
          sideLoops.observe(event);
        },
      },
      commands: commandTable(executor),
      checks: [snapshotCheck("searcher", searches, log), sideLoopCheck(log, logger)],
      loops: sideLoops.loops,
    };
  };
}
