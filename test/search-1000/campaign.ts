/** A thousand trials that train nothing, through the real services. */
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { thousand } from "./thousand.ts";

export const campaigns: readonly Campaign[] = [
  {
    name: "search-1000",
    description: "ASHA of 1,000 trials that train nothing: the searcher keeps up, and is killed",
    async run({ seed, log }) {
      const { violations, lag, seconds } = await thousand({ trials: 1_000, slots: 8, seed, log });
      const { reports, p50, p90, p99, max } = lag;
      return {
        violations,
        summary: `${reports} reports in ${Math.round(seconds)} s; from a report to its decision p50 ${p50} ms, p90 ${p90} ms, p99 ${p99} ms, at most ${max} ms`,
      };
    },
  },
];
