import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { heavyRequests } from "./heavy.ts";
import { full, short } from "./sizes.ts";

/** Slots for runs that calls start. */
const spareSlots = 3;

export const campaigns: readonly Campaign[] = [
  campaign("heavy", "each route at its limits, as fast as one caller can, beside another", full),
  campaign("heavy-short", "the same as heavy for a route of each class of cost", short),
];

function campaign(name: string, description: string, options: typeof full): Campaign {
  return {
    name,
    description,
    async run({ log }) {
      const slots = options.size.trials + 1 + spareSlots;
      await using world = await World.start({ processes: true, agents: 2, slots, restart: false });
      const found = await heavyRequests(world, { ...options, log });
      for (const violation of found.violations) log(`violation: ${violation}`);
      return found;
    },
  };
}
