/** The simulation at full size: many worlds, and every hazard with a trouble at every append. */
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { Chance } from "./chance.ts";
import { judge } from "./judge.ts";

const worlds = 400;
const progressEvery = 25;

const sim: Campaign = {
  name: "sim",
  description:
    "experiments and searcher in virtual time: crashes, stops, a bus that loses and doubles",
  run,
};

export const campaigns: readonly Campaign[] = [sim];

async function run({ seed, log }: Parameters<Campaign["run"]>[0]): ReturnType<Campaign["run"]> {
  const violations: string[] = [];
  const seeds = new Chance(seed, "campaign");
  const totals = { deaths: 0, events: 0, hours: 0 };
  for (let n = 1; n <= worlds; n += 1) {
    const worldSeed = n === 1 ? seed : seeds.between(0, 2 ** 31);
    const { violations: found, world } = await judge(worldSeed);
    for (const what of found) violations.push(`world ${worldSeed}: ${what}`);
    totals.deaths += world.deaths;
    totals.events += world.log.store.events.length;
    totals.hours += world.virtualMs / 3_600_000;
    if (n % progressEvery === 0) log(`${n} of ${worlds} worlds, ${violations.length} violations`);
  }
  const { deaths, events, hours } = totals;
  return {
    violations,
    summary: `${worlds} worlds, ${Math.round(hours)} hours of virtual time, ${events} events, ${deaths} deaths`,
  };
}
