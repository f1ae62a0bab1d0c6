import { isRejection } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { acceptExperiment } from "./accepted.ts";

const defaults = { checkpoint_storage: { type: "directory", container_path: "/c" } };
const text = (searcher: string, more = ""): string => `
entrypoint: "true"
hyperparameters:
  a: {type: int, minval: 1, maxval: 10, count: 10}
  b: {type: int, minval: 1, maxval: 10, count: 10}
  o: {type: categorical, vals: [sgd, adam]}
  m: {type: double, minval: 0, maxval: 1, count: 4, when: {o: sgd}}
  ${more}
searcher: {name: ${searcher}, metric: loss}
`;

function findings(searcher: string, more = ""): readonly string[] {
  const accepted = acceptExperiment(text(searcher, more), { defaults });
  const found = isRejection(accepted) ? (accepted.problems ?? []) : accepted.warnings;
  const verdict = isRejection(accepted) ? "refused" : "warned";
  return found.map(({ path, detail }) => `${verdict}: ${path} ${detail}`);
}

const random = "random, max_trials: 5";

describe("a space", () => {
  it.each([
    [`${random}, constraints: [a + b <= 12, m < 0.5]`],
    [`${random}, constraints: a + b == 10`],
    ["grid, constraints: a + b == 10"],
    [`${random}, warm_start: {points: [{a: 3, m: 0.5}, {}]}`],
  ])("is right: %s", (searcher) => {
    expect(findings(searcher)).toEqual([]);
  });

  it.each([
    [
      `${random}, constraints: ["a + b <= 25", "a + b > 30"]`,
      'refused: searcher.constraints leave nothing of the space: none of 10000 points satisfies them; "a + b > 30" refuses most, 1000 of 1000',
    ],
    [
      "grid, constraints: [a > 2, a * 2 == b * 2 + 1]",
      'refused: searcher.constraints leave no point of the grid: "a * 2 == b * 2 + 1" refuses most, 1000 of 1000',
    ],
    [
      `${random}, constraints: "a * b == 7 and o == 'sgd' and m < 0.1"`,
      "warned: searcher.constraints leave 1 of 1000 points that were tried: the search draws as often before it finds one",
    ],
    [
      `${random}, constraints: [a < 9, a * b <= 20], warm_start: {points: [{a: 5, b: 4}, {a: 5, b: 5}]}`,
      'refused: searcher.warm_start.points[1] does not satisfy the constraint "a * b <= 20"',
    ],
    [
      `${random}, warm_start: {points: [{o: adam, m: 0.5}]}`,
      "refused: searcher.warm_start.points[0] gives a hyperparameter that is not there: its condition does not hold",
    ],
    [
      "random, max_trials: 2, warm_start: {points: [{a: 1}, {a: 2}, {a: 3}]}",
      "warned: searcher.warm_start.points are 3, of which the last are not tried: the search has 2 trials",
    ],
    [
      "grid, warm_start: {points: [{a: 3}]}",
      "warned: searcher.warm_start.points has no effect in a grid search, which tries its own points",
    ],
  ])("is told of: %s", (searcher, finding) => {
    expect(findings(searcher)).toEqual([finding]);
  });

  it("is told of earlier experiments where nothing learns from them", () => {
    expect(findings(`${random}, warm_start: {experiments: [3]}`)).toEqual([
      "warned: searcher.warm_start.experiments has no effect in the searcher random, which learns from no trial of another search",
    ]);
    expect(findings("tpe, max_trials: 5, warm_start: {experiments: [3]}")).toEqual([]);
  });

  it("is no grid that is too large to walk", () => {
    const large = "c: {type: int, minval: 1, maxval: 10000, count: 10000}";
    expect(findings("grid, constraints: [a != 3]", large)).toEqual([
      "refused: hyperparameters make a grid that is too large to hold conditions and constraints against each point of it",
    ]);
    expect(findings("grid, constraints: [a == 3, c < 3]", large)).toEqual([]);
  });
});
