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
  ])("has no finding with the searcher %s", (searcher) => {
    expect(findings(searcher)).toEqual([]);
  });

  it.each([
    [
      `${random}, constraints: ["a + b <= 25", "a + b > 30"]`,
      'refused: searcher.constraints are satisfied by none of 10000 sampled points; "a + b > 30" refuses most, 1000 of 1000: widen the constraint, or narrow the hyperparameters to where it holds',
    ],
    [
      "grid, constraints: [a > 2, a * 2 == b * 2 + 1]",
      'refused: searcher.constraints exclude every point of the grid: "a * 2 == b * 2 + 1" refuses most, 1000 of 1000',
    ],
    [
      `${random}, constraints: "a * b == 7 and o == 'sgd' and m < 0.1"`,
      "warned: searcher.constraints are satisfied by only 1 of 1000 sampled points: the search draws again until one satisfies them",
    ],
    [
      `${random}, constraints: [a < 9, a * b <= 20], warm_start: {points: [{a: 5, b: 4}, {a: 5, b: 5}]}`,
      'refused: searcher.warm_start.points[1] does not satisfy the constraint "a * b <= 20"',
    ],
    [
      `${random}, warm_start: {points: [{o: adam, m: 0.5}]}`,
      "refused: searcher.warm_start.points[0] gives a hyperparameter that does not exist at this point: its condition is false",
    ],
    [
      "random, max_trials: 2, warm_start: {points: [{a: 1}, {a: 2}, {a: 3}]}",
      "warned: searcher.warm_start.points are 3, but the search has only 2 trials: it does not try the last of them",
    ],
    [
      "grid, warm_start: {points: [{a: 3}]}",
      "warned: searcher.warm_start.points has no effect in a grid search, which tries its own points",
    ],
  ])("has one finding with the searcher %s", (searcher, finding) => {
    expect(findings(searcher)).toEqual([finding]);
  });

  it("is refused after 10000 sampled points if none of them satisfies the constraints", () => {
    const unit = "{type: double, minval: 0, maxval: 1}";
    const [refusal, ...more] = findings(
      `${random}, constraints: "x + y < 0.001"`,
      `x: ${unit}\n  y: ${unit}`,
    );
    expect(more).toEqual([]);
    expect(refusal).toContain("are satisfied by none of 10000 sampled points");
    expect(refusal).not.toContain("whole space");
  });

  it("has a warning that a learning search has no choice if all hyperparameters are constants", () => {
    const constants = (searcher: string): readonly string[] => {
      const document = `
entrypoint: "true"
hyperparameters: {a: 3, b: {c: {type: const, val: x}, d: {type: categorical, vals: [1]}}}
searcher: {${searcher}, metric: loss}
`;
      const accepted = acceptExperiment(document, { defaults });
      if (isRejection(accepted)) throw new Error(accepted.detail);
      return accepted.warnings.map(({ path, detail }) => `${path} ${detail}`);
    };
    expect(constants("name: tpe, max_trials: 100")).toEqual([
      "hyperparameters have one value each: the searcher tpe has nothing to choose, and its 100 trials train the same",
    ]);
    expect(constants("name: tpe, max_trials: 1")).toEqual([]);
    expect(constants("name: random, max_trials: 100")).toEqual([]);
  });

  it("has a warning about earlier experiments if the searcher does not learn from them", () => {
    expect(findings(`${random}, warm_start: {experiments: [3]}`)).toEqual([
      "warned: searcher.warm_start.experiments has no effect in the searcher random, which does not learn from trials of other searches",
    ]);
    expect(findings("tpe, max_trials: 5, warm_start: {experiments: [3]}")).toEqual([]);
  });

  it("is refused as a grid that is too large to check each point", () => {
    const large = "c: {type: int, minval: 1, maxval: 10000, count: 10000}";
    expect(findings("grid, constraints: [a != 3]", large)).toEqual([
      "refused: hyperparameters make a grid that is too large to check conditions and constraints at each point",
    ]);
    expect(findings("grid, constraints: [a == 3, c < 3]", large)).toEqual([]);
  });
});
