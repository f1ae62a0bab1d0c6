import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { allTroubles, troubledMetrics } from "./troubled-metrics.ts";

const rounds = 4;
const trials = 4;

export const campaigns: readonly Campaign[] = [
  {
    name: "metrics",
    description:
      "reports doubled, reordered and cut off while metrics, gateway, PostgreSQL and NATS die; subscribers follow; a trial restarts from step 400 after 537",
    async run({ seed, log }) {
      const troubles = Array.from({ length: rounds }, () => allTroubles).flat();
      // The restarted trial needs a slot, too.
      const slots = trials + 1;
      await using world = await World.start({ processes: true, slots, restart: false });
      const found = await troubledMetrics(world, {
        seed,
        trials,
        pauseMs: 30,
        troubles,
        restarted: true,
        log,
      });
      for (const violation of found.violations) log(`violation: ${violation}`);
      return found;
    },
  },
];
