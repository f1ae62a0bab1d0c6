import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { type Trouble, troubledWatch } from "./troubled-watch.ts";

/** The length of an outage, longer than every timeout and than a client waits for the platform. */
const awayMs = 90_000;

const troubles: readonly Trouble[] = [
  { part: "gateway", awayMs },
  { part: "metrics", awayMs },
  { part: "logs", awayMs },
  { part: "nats", awayMs },
  { part: "postgres", awayMs },
  { part: "nats", awayMs, wipe: true },
];

export const campaigns: readonly Campaign[] = [
  {
    name: "watch",
    description:
      "50 clients of Watch while gateway, metrics, logs, NATS and PostgreSQL are away for 90 s, and NATS is wiped",
    async run({ seed, log }) {
      await using world = await World.start({ processes: true, slots: 2, restart: false });
      const found = await troubledWatch(world, { seed, clients: 50, troubles, log });
      for (const violation of found.violations) log(`violation: ${violation}`);
      return found;
    },
  },
];
