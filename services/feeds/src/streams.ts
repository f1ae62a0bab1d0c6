/** The streams that feeds owns, and the streams of other services that its decisions depend on. */
import { type AccessState, evolveAccess, noAccess, type TokenLimit } from "@trainyard/access";
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

/** The limits of a token below the rights of its owner. */
export const tokenLimits: StreamFold<readonly TokenLimit[]> = {
  name: "token-limits",
  category: "token",
  initial: [],
  evolve: (limits: readonly TokenLimit[], { type, data }: AnyEvent) =>
    type === "TokenIssued" ? data.limits : limits,
};

/** Whether a user is disabled. */
export const disabled: StreamFold<boolean> = {
  name: "disabled",
  category: "user",
  initial: false,
  evolve: (state: boolean, { type }: AnyEvent) =>
    type === "UserDisabled" || (state && type !== "UserEnabled"),
};

/** The roles of all users and groups. */
export const access: StreamFold<AccessState> = {
  name: "access",
  category: "access",
  initial: noAccess,
  evolve: evolveAccess,
};
