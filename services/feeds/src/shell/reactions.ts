/** A subscription stops with the token by which it reads, or with one that the token descends from. */
import type { ReactionHandlers } from "@trainyard/runtime";
import { subscriptions } from "../streams.ts";
import type { SubscriptionsView } from "./view/subscriptions-view.ts";

export function reactionHandlers(known: SubscriptionsView): ReactionHandlers {
  return {
    TokenRevoked: async ({ id, stored, data }, work) => {
      await known.view.reach(stored.position);
      for (const { name, reader } of await known.list()) {
        if (reader.tokenId !== id && !reader.ancestors.includes(id)) continue;
        const reason = `its token ${id} was ${data.reason === "" ? "revoked" : data.reason}`;
        await work.decide(subscriptions, name, { type: "Stop", tokenId: id, reason });
      }
    },
  };
}
