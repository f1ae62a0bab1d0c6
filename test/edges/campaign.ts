import { type Campaign, wholeAndParts } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { lateValues } from "./late-values.ts";
import { outage, partsThatMayBeAway } from "./outages.ts";
import { lostRuns } from "./lost-runs.ts";
import { restoredLog } from "./restored-log.ts";
import { scenarios } from "./scenarios/index.ts";
import { sharedStorage } from "./shared-storage.ts";

/** Longer than every timeout: an agent is lost after 30 s, and no other wait is longer. */
const awayMs = 90_000;

type Options = Parameters<Campaign["run"]>[0];
type Result = Awaited<ReturnType<Campaign["run"]>>;

const parts = [
  {
    name: "edges-scenarios",
    description: "of edges: what one user or host does to the others, and a log that is put back",
    async run({ log }) {
      const violations = [...(await eachScenario(log)), ...(await restoredLog(log))];
      violations.push(...(await lostRuns(log)), ...(await sharedStorage(log)));
      return { violations, summary: `${scenarios.length + 3} scenarios` };
    },
  },
  {
    name: "edges-outages",
    description: "of edges: each part away for 90 s",
    run: eachOutage,
  },
  {
    name: "edges-late-values",
    description: "of edges: metrics away for 20 minutes, twice the grace of condemned checkpoints",
    async run({ log }) {
      const violations = await lateValues({
        awayMs: 20 * 60_000,
        steps: 12,
        stepSeconds: 120,
        log,
      });
      for (const violation of violations) log(`violation: ${violation}`);
      return { violations, summary: "one outage" };
    },
  },
] as const satisfies readonly Campaign[];

/** The whole campaign takes an hour and a half. */
export const campaigns = wholeAndParts(
  "edges",
  "what one user, one host or one accident does to the others; each part away for 90 s",
  parts,
);

/** Each outage has a cluster of its own, so that one that fails does not affect the others. */
async function eachOutage({ seed, log }: Options): Promise<Result> {
  const violations: string[] = [];
  for (const part of partsThatMayBeAway) {
    const one = outage({ part, awayMs, seed, stepSeconds: 0.8, log });
    const found = await one.catch((error: unknown) => [`${part} away: ${errorText(error)}`]);
    for (const violation of found) log(`violation: ${violation}`);
    violations.push(...found);
  }
  return { violations, summary: `${partsThatMayBeAway.length} outages` };
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${errorText(error.cause)})`;
}

/** All scenarios share one cluster, one after the other, since the traces of one must not affect the next. */
async function eachScenario(log: (line: string) => void): Promise<readonly string[]> {
  await using world = await World.start({ processes: true, agents: 2, slots: 2 });
  const violations: string[] = [];
  for (const { name, run } of scenarios) {
    log(name);
    const found = await run(world).catch((error: unknown) => [String(error)]);
    for (const violation of found) log(`violation: ${name}: ${violation}`);
    violations.push(...found.map((violation) => `${name}: ${violation}`));
  }
  return violations;
}
