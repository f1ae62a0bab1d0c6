import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { floodedRuns } from "./flood.ts";
import { heavyRequests } from "./heavy.ts";
import { floods, full, short } from "./sizes.ts";

/** Slots for runs that calls start. */
const spareSlots = 3;

const flood: Campaign = {
  name: "flood",
  description:
    "1,000 runs and people beside two floods from one address, while their Redis is in trouble",
  async run({ log }) {
    await using world = await World.start({ processes: true, slots: 4, restart: false });
    const found = await floodedRuns(world, { ...floods, log });
    for (const violation of found.violations) log(`violation: ${violation}`);
    return found;
  },
};

export const campaigns: readonly Campaign[] = [
  campaign("heavy", "each route at its limits, as fast as one caller can, beside another", full),
  campaign("heavy-short", "the same as heavy for a route of each class of cost", short),
  flood,
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
