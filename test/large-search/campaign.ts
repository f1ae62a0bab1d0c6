/** Large searches are deleted, and the gateway's read model is rebuilt over them, within the limit of a statement. */
import { largeSearch } from "@trainyard/service-gateway/large-search";
import { type Campaign, wholeAndParts } from "../../scripts/lib/campaigns.ts";

/** A report is shown this long after its commit, also while a piece of rows is removed. */
const waitMsMax = 2_000;

const part = (name: string, trials: number, statementMs: number): Campaign => ({
  name,
  description: `a search of ${trials} trials is deleted and rebuilt; a statement has ${statementMs} ms`,
  async run({ log }) {
    const { halves, rebuilt, removedAgain, waits, statements, ...found } = await largeSearch({
      ...{ trials, statementMs, log },
    });
    const violations = [...found.violations];
    if (waits.max > waitMsMax) violations.push(`a report was not shown for ${waits.max} ms`);
    if (halves[1] > 2 * halves[0]) violations.push("the second half of the rows took longer");
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
