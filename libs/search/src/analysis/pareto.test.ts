import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestByFronts, paretoFront } from "./pareto.ts";

const scores = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.nat({ max: 6 }), fc.nat({ max: 6 })), {
  maxLength: 30,
});

const dominates = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((value, i) => value <= (b[i] ?? 0)) && a.some((value, i) => value < (b[i] ?? 0));

describe("the Pareto front", () => {
  it("contains every result that no other dominates, including equal ones", () => {
    fc.assert(
      fc.property(scores, (all) => {
        const wanted = all.flatMap((one, index) =>
          all.some((other) => dominates(other, one)) ? [] : [index],
        );
        expect(paretoFront(all)).toEqual(wanted);
      }),
    );
  });

  it("contains the smallest results for one objective, and is empty without results", () => {
    expect(paretoFront([[3], [1], [2], [1]])).toEqual([1, 3]);
    expect(paretoFront([])).toEqual([]);
  });
});

describe("the best results by fronts", () => {
  it("are taken front by front, as many as requested, each once", () => {
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

  it("start with the ends of a front, then the most isolated results", () => {
    const line = [0, 1, 2, 3, 7, 8].map((x) => [x, 8 - x]);
    expect(bestByFronts(line, 3)).toEqual([0, 5, 3]);
    expect(bestByFronts(line, 4)).toEqual([0, 5, 3, 4]);
  });
});
