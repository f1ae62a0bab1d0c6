import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

export type PoolEvent = EventOf<"PoolConfigured" | "PoolRemoved">;
export type PoolState = { readonly policy: string | null };
export type PoolCommand = { readonly kind: "configure"; readonly policy: string };

/** What a pool is scheduled by; there is one policy so far. */
export const priorityPolicy = "priority";

export const poolDecider: Decider<PoolState, PoolCommand, PoolEvent> = {
  initial: { policy: null },
  decide: (state, { policy }) =>
    state.policy === policy ? [] : [{ type: "PoolConfigured", data: { policy } }],
  evolve: (state, event) => {
    if (event.type === "PoolConfigured") return { policy: event.data.policy };
    return event.type === "PoolRemoved" ? { policy: null } : state;
  },
};
