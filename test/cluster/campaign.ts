import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { oneWay } from "./one-way.ts";
import { troubledAgents } from "./troubled-agents.ts";

export const campaigns: readonly Campaign[] = [
  {
    name: "cluster",
    description:
      "50 agents, 2,000 short runs, agents killed, frozen, cut off, deaf and mute at random",
    async run({ seed, log }) {
      const size = {
        ...{ racks: 10, agentsPerRack: 5, runs: 2_000, troubleMs: 45_000 },
        processes: true,
      };
      const { violations, troubles } = await troubledAgents({ seed, ...size, log });
      return { violations, summary: `50 agents, 2,000 runs, ${troubles} troubles` };
    },
  },
  {
    name: "one-way",
    description: "an agent that hears nothing and one that is not heard, for fifteen minutes",
    async run({ log }) {
      return { violations: await oneWay(900_000, log), summary: "two links cut in one direction" };
    },
  },
];
