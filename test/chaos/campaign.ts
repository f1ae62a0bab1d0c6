import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { killEach } from "./kill-each.ts";
import { natsAway, natsWiped } from "./nats-away.ts";

const fiveMinutesMs = 5 * 60_000;

export const campaigns: readonly Campaign[] = [
  {
    name: "kill9",
    description: "kill -9 of each part twice during a search",
    async run({ seed, log }) {
      await using world = await World.start({ processes: true, slots: 3 });
      const options = { seed, rounds: 2, stepSeconds: 1.2, log };
      const { violations, killed } = await killEach(world, options);
      return { violations, summary: `${killed} kills` };
    },
  },
  {
    name: "nats",
    description: "NATS away for five minutes, and its data folder deleted twice, during a search",
    async run({ seed, log }) {
      await using world = await World.start({ processes: true, slots: 3, restart: false });
      const away = await natsAway(world, { seed, stepSeconds: 0.3, awayMs: fiveMinutesMs, log });
      const wiped = await natsWiped(world, { seed, stepSeconds: 0.3, log });
      return { violations: [...away, ...wiped], summary: "one long outage, two wiped stores" };
    },
  },
];
