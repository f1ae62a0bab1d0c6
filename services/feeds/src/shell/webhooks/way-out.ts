/** The way out of the platform: a guarded sender, and the formats of webhooks. */
import type { Clock } from "@trainyard/kernel";
import { formats } from "./formats/formats.ts";
import { urlProblem } from "./send/check-url.ts";
import type { SendingConfig } from "./send/config.ts";
import { GuardedSender } from "./send/guarded-sender.ts";
import type { Outgoing } from "./webhooks.ts";

export function outgoingOf({ addresses, proxy }: SendingConfig, clock: Clock): Outgoing {
  return {
    sender: new GuardedSender({ addresses, proxy, clock }),
    formats,
    checkUrl: (url) => urlProblem(addresses, url),
  };
}
