/** A thousand trials without training, through the real services. */
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { World } from "../world/world.ts";
import { type Lag, thousand } from "./thousand.ts";

export const campaigns: readonly Campaign[] = [
  {
    name: "search-1000",
    description: "ASHA of 1,000 trials that train nothing: the searcher keeps up, and is killed",
    async run({ seed, log }) {
      const slots = 8;
      await using world = await World.start({ processes: true, slots });
      const { violations, lag, takeover, seconds } = await thousand(world, {
        trials: 1_000,
        slots,
        seed,
        log,
      });
      const reports = lag.reports + takeover.reports;
      return {
        violations,
        summary: `${reports} reports in ${Math.round(seconds)} s; from a report to its decision ${said(lag)}; where the killed searcher was to be replaced first ${said(takeover)}`,
      };
    },
  },
];

function said({ reports, p50, p90, p99, max }: Lag): string {
  return `p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, at most ${max} ms (${reports})`;
}
