import type { PolicyName } from "../settings.ts";
import { fairShare } from "./fair-share.ts";
import type { Policy } from "./policy.ts";
import { priority } from "./priority.ts";
import { roundRobin } from "./round-robin.ts";

export const policies: Readonly<Record<PolicyName, Policy>> = {
  priority,
  fair_share: fairShare,
  round_robin: roundRobin,
};
