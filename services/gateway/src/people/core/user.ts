/** A user in the log: none → enabled ⇄ disabled. Names, addresses and passwords are in tables, not in events. */
import type { EventOf } from "@trainyard/contracts";
import { type Decider, reject } from "@trainyard/kernel";

export type UserEvent = EventOf<
  "UserCreated" | "UserDescribed" | "UserDisabled" | "UserEnabled" | "UserSignedOut"
>;

export type UserKind = "person" | "service";

export type UserState = {
  readonly kind: UserKind | null;
  readonly disabled: boolean;
};

export type UserCommand = { readonly by: string } & (
  | { readonly type: "create"; readonly kind: UserKind }
  | { readonly type: "describe" }
  | { readonly type: "disable"; readonly reason: string }
  | { readonly type: "enable" }
  | { readonly type: "sign out"; readonly reason: string }
);

export const userDecider: Decider<UserState, UserCommand, UserEvent> = {
  initial: { kind: null, disabled: false },
  decide(state, command) {
    const { by } = command;
    if (command.type === "create") {
      return state.kind === null ? [{ type: "UserCreated", data: { kind: command.kind, by } }] : [];
    }
    if (state.kind === null) return reject("user_not_found", "there is no such user");
    switch (command.type) {
      case "describe":
        return [{ type: "UserDescribed", data: { by } }];
      case "disable":
        return state.disabled
          ? []
          : [{ type: "UserDisabled", data: { reason: command.reason, by } }];
      case "enable":
        return state.disabled ? [{ type: "UserEnabled", data: { by } }] : [];
      default:
        return [{ type: "UserSignedOut", data: { reason: command.reason, by } }];
    }
  },
  evolve(state, { type, data }) {
    switch (type) {
      case "UserCreated":
        return { kind: data.kind === "service" ? "service" : "person", disabled: false };
      case "UserDisabled":
        return { ...state, disabled: true };
      case "UserEnabled":
        return { ...state, disabled: false };
      default:
        return state;
    }
  },
};
