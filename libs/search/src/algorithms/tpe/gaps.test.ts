import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gaps } from "./gaps.ts";

const place = fc.tuple(
  fc.integer({ min: 0, max: 40 }).map((n) => n / 40),
  fc.nat({ max: 3 }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
const continuous = [0, 2];

/** Returns the widths by trial and axis. */
function widthsOf(gaps: Gaps, trials: readonly number[], places: readonly (readonly number[])[]) {
  const slots = gaps.hold(trials, places);
  const { sigmas, heights } = gaps.widths(0.01);
  return [...slots].map((slot) => [
    [...sigmas.slice(slot * 2, slot * 2 + 2)],
    [...heights.slice(slot * 2, slot * 2 + 2)],
  ]);
}

describe("the gaps between trials", () => {
  it("are the larger gap to a neighbour, for an outermost trial the gap to its only neighbour, and at least the minimum", () => {
    const gaps = new Gaps([0]);
    const slots = gaps.hold([1, 2, 3, 4], [[0.5], [0.1], [0.501], [0.5]]);
    const { sigmas } = gaps.widths(0.01);
    const widths = [...slots].map((slot) => sigmas[slot]);
    expect(widths[0]).toBeCloseTo(0.4);
    expect(widths[1]).toBeCloseTo(0.4);
    expect(widths.slice(2)).toEqual([0.01, 0.01]);
  });

  it("reach to the farther end for a single trial", () => {
    const gaps = new Gaps([0]);
    gaps.hold([7], [[0.25]]);
    expect(gaps.widths(0.01).sigmas[0]).toBe(0.75);
  });

  it("do not depend on the trials that were held before", () => {
    const all = fc.array(place, { minLength: 1, maxLength: 30 });
    const kept = fc.array(fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(all, all, kept, (first, second, choices) => {
        const used = new Gaps(continuous);
        for (const [turn, chosen] of choices.entries()) {
          // Every third turn, the trials have other places, as after a different history.
          const places = turn % 3 === 2 ? second : first;
          const trials = places.map((_, i) => i + 1).filter((trial) => chosen[trial - 1]);
          const of = trials.map((trial) => places[trial - 1] ?? []);
          expect(widthsOf(used, trials, of)).toEqual(widthsOf(new Gaps(continuous), trials, of));
        }
      }),
      { numRuns: 60 },
    );
  });
});
