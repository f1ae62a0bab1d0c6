/** The streams that feeds owns, and the streams of other services that its decisions depend on. */
import type { AnyEvent } from "@trainyard/contracts";
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import type { SubscriptionCommand } from "./core/subscription/commands.ts";
import { subscriptionDecider } from "./core/subscription/decide.ts";
import type { SubscriptionEvent, SubscriptionState } from "./core/subscription/state.ts";

export const subscriptions: Aggregate<SubscriptionState, SubscriptionCommand, SubscriptionEvent> = {
  name: "subscription",
  category: "subscription",
  decider: subscriptionDecider,
};

/** Whether a token was revoked. */
export const revoked: StreamFold<boolean> = {
  name: "revoked",
  category: "token",
  initial: false,
  evolve: (state: boolean, { type }: AnyEvent) => state || type === "TokenRevoked",
};
