import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { makePythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { killParts, parts } from "./kill.ts";

export const campaigns: readonly Campaign[] = [
  {
    name: "pytorch-kill9",
    description:
      "kill -9 of each rank, each agent and each service during a training on two agents, and a pause: the weights of an undisturbed one",
    async run({ seed, log }) {
      const environment = await makePythonEnvironment(log);
      if (environment.python === null) return { violations: [environment.why], summary: "no run" };
      const { killed, violations } = await killParts({
        seed,
        parts,
        ranksOfAgent: 2,
        batchSeconds: 0.5,
        batches: 600,
        log,
      });
      return { violations, summary: `${killed} kills` };
    },
  },
];
