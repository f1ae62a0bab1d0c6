/**
 * A pool's life: none → configured ⇄ removed. Changes by users to jobs are in its stream too, which keeps the order of
 * its queue.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { isSameConfiguration } from "./configuration.ts";

export type PoolEvent = EventOf<"PoolConfigured" | "PoolRemoved" | "JobUpdated" | "JobMoved">;
/** Null while the pool does not exist. */
export type PoolState = { readonly configured: EventData<"PoolConfigured"> | null };
export type PoolCommand =
  | {
      readonly kind: "configure";
      readonly configured: EventData<"PoolConfigured">;
      /** join: an agent joined a pool without a configuration. */
      readonly by: "create" | "update" | "join";
    }
  /** The numbers of agents and runs in the pool. */
  | { readonly kind: "remove"; readonly agents: number; readonly runs: number }
  | { readonly kind: "change_jobs"; readonly events: readonly JobEvent[] };

export type JobEvent = EventOf<"JobUpdated" | "JobMoved">;

const notFound = reject("pool_not_found", "the pool does not exist");

function decidePool(state: PoolState, command: PoolCommand): readonly PoolEvent[] | Rejection {
  const { configured } = state;
  switch (command.kind) {
    case "configure": {
      if (command.by === "create" && configured !== null) {
        return reject("pool_exists", "the pool exists already: update it instead");
      }
      if (command.by === "update" && configured === null) return notFound;
      if (command.by === "join" && configured !== null) return [];
      if (configured !== null && isSameConfiguration(configured, command.configured)) return [];
      return [{ type: "PoolConfigured", data: command.configured }];
    }
    case "remove": {
      const { agents, runs } = command;
      if (configured === null) return notFound;
      if (agents === 0 && runs === 0) return [{ type: "PoolRemoved", data: {} }];
      const detail = `the pool has ${count(agents, "agent")} and ${count(runs, "run")}: remove the agents, and end the runs, first`;
      return reject("pool_in_use", detail);
    }
    case "change_jobs":
      return configured === null ? notFound : command.events;
    default:
      return assertNever(command, "a pool's command");
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

export const poolDecider: Decider<PoolState, PoolCommand, PoolEvent> = {
  initial: { configured: null },
  decide: decidePool,
  evolve: (state, event) => {
    if (event.type === "PoolConfigured") return { configured: event.data };
    return event.type === "PoolRemoved" ? { configured: null } : state;
  },
};
