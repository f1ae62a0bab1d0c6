/** A build without a sender: it takes no webhooks. */
import type { Outgoing } from "./webhooks.ts";

export const noWayOut: Outgoing = {
  sender: { send: () => Promise.reject(new Error("there is no sender")) },
  formats: {},
  checkUrl: () => "there is no sender",
};
