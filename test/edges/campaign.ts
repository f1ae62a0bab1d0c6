import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { outage, partsThatMayBeAway } from "./outages.ts";
import { restoredLog } from "./restored-log.ts";
import { scenarios } from "./scenarios/index.ts";

/** Longer than every timeout: an agent is lost after 30 s, and nothing waits longer for what is away. */
const awayMs = 90_000;

export const campaigns: readonly Campaign[] = [
  {
    name: "edges",
    description:
      "what one user, one host or one accident does to the others; each part away for 90 s",
    async run({ seed, log }) {
      const violations = [...(await eachScenario(log)), ...(await restoredLog(log))];
      for (const part of partsThatMayBeAway) {
        violations.push(...(await outage({ part, awayMs, seed, stepSeconds: 0.8, log })));
      }
      const summary = `${scenarios.length + 1} scenarios, ${partsThatMayBeAway.length} outages`;
      return { violations, summary };
    },
  },
];

/** All on one cluster, one after the other: what one leaves behind must not hurt the next. */
async function eachScenario(log: (line: string) => void): Promise<readonly string[]> {
  await using world = await World.start({ processes: true, agents: 2, slots: 2 });
  const violations: string[] = [];
  for (const { name, run } of scenarios) {
    log(name);
    const found = await run(world).catch((error: unknown) => [String(error)]);
    violations.push(...found.map((violation) => `${name}: ${violation}`));
  }
  return violations;
}
