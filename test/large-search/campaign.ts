/** Large searches are deleted, and the gateway's read model is rebuilt over them, within the limit of a statement. */
import { largeSearch } from "@trainyard/service-gateway/large-search";
import { type Campaign, wholeAndParts } from "../../scripts/lib/campaigns.ts";

const part = (name: string, trials: number, statementMs: number): Campaign => ({
  name,
  description: `a search of ${trials} trials is deleted and rebuilt; a statement has ${statementMs} ms`,
  async run({ log }) {
    const { violations, halves, rebuilt, removedAgain, waits, statements } = await largeSearch({
      ...{ trials, statementMs, log },
    });
    const said = (seconds: number): string => `${seconds.toFixed(1)} s`;
    return {
      violations,
      summary: `${trials} trials: removed in ${halves.map(said).join(" + ")}, rebuilt in ${said(rebuilt)}, removed again in ${said(removedAgain)}; a report beside it was shown after ${waits.p95} ms (p95), at most ${waits.max} ms; longest statement ${Math.round(statements.longestMs)} ms, ${statements.canceled} canceled`,
    };
  },
});

export const campaigns: readonly Campaign[] = wholeAndParts(
  "large-search",
  "searches of 10,000 and 130,000 trials are deleted, and the read model is rebuilt over them",
  [
    part("large-search-10k", 10_000, 300),
    part("large-search-130k", 130_000, 300),
    part("large-search-limits", 130_000, 4_500),
  ],
);
