import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestByFronts, paretoFront } from "./pareto.ts";

const scores = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 }), fc.nat({ max: 6 })), {
  maxLength: 30,
});

const dominates = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value <= (b[i] ?? 0)) && a.some((value, i) => value < (b[i] ?? 0));

describe("the Pareto front", () => {
  it("is what nothing dominates, equals all of it", () => {
    fc.assert(
      fc.property(scores, (all) => {
        const wanted = all.flatMap((one, index) =>
          all.some((other) => dominates(other, one)) ? [] : [index],
        );
        expect(paretoFront(all)).toEqual(wanted);
      }),
    );
  });

  it("of one objective is the smallest, and of nothing is nothing", () => {
    expect(paretoFront([[3], [1], [2], [1]])).toEqual([1, 3]);
    expect(paretoFront([])).toEqual([]);
  });
});

describe("the best by fronts", () => {
  it("come front after front, as many as are wanted, none twice", () => {
    fc.assert(
      fc.property(scores, fc.nat({ max: 35 }), (all, count) => {
        const best = bestByFronts(all, count);
        expect(best).toHaveLength(Math.min(count, all.length));
        expect(new Set(best).size).toBe(best.length);
        const left = all.filter((_, index) => !best.includes(index));
        for (const index of best) {
          expect(left.some((other) => dominates(other, all[index] ?? []))).toBe(false);
        }
      }),
    );
  });

  it("of one front are its ends, then the loneliest", () => {
    const line = [0, 1, 2, 3, 7, 8].map((x) => [x, 8 - x]);
    expect(bestByFronts(line, 3)).toEqual([0, 5, 3]);
    expect(bestByFronts(line, 4)).toEqual([0, 5, 3, 4]);
  });
});
