import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { makePythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { World } from "../world/world.ts";
import { runTutorial, tutorials } from "./port.ts";

const clusters = [
  { agents: 1, slots: 4 },
  { agents: 2, slots: 2 },
];

export const campaigns: readonly Campaign[] = [
  {
    name: "port",
    description:
      "every configuration of the tutorials of Determined, with changed imports alone, on one agent and on two",
    async run({ log }) {
      const environment = await makePythonEnvironment(log);
      if (environment.python === null) return { violations: [environment.why], summary: "no run" };
      const violations: string[] = [];
      for (const cluster of clusters) {
        await using world = await World.start({ ...cluster, python: true });
        for (const tutorial of tutorials) {
          const beganMs = performance.now();
          const found = await runTutorial(world, tutorial);
          violations.push(...found.map((one) => `${cluster.agents} agents: ${one}`));
          const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
          log(
            `${cluster.agents} agents  ${tutorial.name}  ${seconds} s  ${found.length} violations`,
          );
        }
      }
      return { violations, summary: `${clusters.length * tutorials.length} experiments` };
    },
  },
];
