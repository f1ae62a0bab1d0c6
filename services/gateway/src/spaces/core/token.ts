import type { TokenLimit } from "@trainyard/access";
import type { EventOf } from "@trainyard/contracts";
import { type Decider, reject } from "@trainyard/kernel";

export type TokenEvent = EventOf<"TokenIssued" | "TokenRevoked">;

export type TokenState = "none" | "valid" | "revoked";

export type TokenCommand =
  | {
      readonly type: "IssueToken";
      readonly label: string;
      readonly owner: string;
      readonly secretDigest: string;
      /** The expiry in milliseconds since 1970; 0 for never. */
      readonly expiresAtMs: number;
      /** The ids of the tokens that this one descends from, its creator first. */
      readonly ancestors: readonly string[];
      /** The limits of the token: its own one and those of its ancestors. */
      readonly limits: readonly TokenLimit[];
    }
  | { readonly type: "RevokeToken"; readonly reason: string };

export const tokenDecider: Decider<TokenState, TokenCommand, TokenEvent> = {
  initial: "none",
  decide(state, command) {
    if (command.type === "IssueToken") {
      if (state !== "none") return reject("token_exists", "a token with this id exists already");
      const { type: _type, ancestors, limits, ...data } = command;
      const copied = limits.map(({ role, workspaces }) => ({ role, workspaces: [...workspaces] }));
      return [
        { type: "TokenIssued", data: { ...data, ancestors: [...ancestors], limits: copied } },
      ];
    }
    if (state === "none") return reject("token_not_found", "the token does not exist");
    return state === "revoked" ? [] : [{ type: "TokenRevoked", data: { reason: command.reason } }];
  },
  evolve(_state, event) {
    return event.type === "TokenIssued" ? "valid" : "revoked";
  },
};
