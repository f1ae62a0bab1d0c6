import { describe, expect, it } from "vitest";
import { arrivals, replacementsOf } from "../testing/replacements.ts";

const seeds = Array.from({ length: 25 }, (_, n) => n + 1);
const quantiles = [0.1, 0.25, 0.5];
const INTERVALS = 4;

describe.each([2, 3, 4, 8, 16, 32])("a population of %i members", (members) => {
  const allowed = (quantile: number): number =>
    Math.min(Math.ceil(quantile * members), Math.floor(members / 2));

  it.each(arrivals)("replaces at most its quantile in every interval, reports: %s", (arrival) => {
    for (const quantile of quantiles) {
      for (const seed of seeds) {
        const counts = replacementsOf({ members, quantile, intervals: INTERVALS, arrival, seed });
        const shown = `quantile ${quantile}, seed ${seed}: ${counts.join(" ")}`;
        expect(Math.max(...counts), shown).toBeLessThanOrEqual(allowed(quantile));
      }
    }
  });

  it("replaces members also if the worst report first", () => {
    const counts = seeds.flatMap((seed) =>
      replacementsOf({
        members,
        quantile: 0.25,
        intervals: INTERVALS,
        arrival: "worst_first",
        seed,
      }).slice(1),
    );
    expect(Math.max(...counts)).toBe(allowed(0.25));
  });
});
