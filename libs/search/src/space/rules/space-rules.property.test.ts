/** Properties of any space with any conditions and constraints, compared with a plain filter of all its points. */
import {
  type AllowedValues,
  type Conditions,
  gridSize,
  type HyperparameterSpace,
  isAllowedValue,
  type Json,
  type JsonObject,
  parseExpression,
  type TypedHyperparameter,
} from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pointOfTrial } from "../points.ts";
import { gridPoint } from "../space.ts";
import {
  configOf,
  DrivenSearch,
  gridOf as gridSearcher,
  randomOf,
} from "../../testing/searches.ts";
import { evaluation } from "./evaluate.ts";
import { gridOf } from "./grid.ts";

const names = ["a", "b", "c", "d"];

/**
 * Random spaces of whole numbers from 0 to `most`; a hyperparameter may depend on any earlier one, which may sort after
 * it.
 */
const spaces: fc.Arbitrary<HyperparameterSpace> = fc
  .tuple(
    fc.shuffledSubarray(names, { minLength: 1 }),
    fc.array(fc.nat({ max: 2 }), { minLength: 4, maxLength: 4 }),
    fc.array(fc.option(fc.tuple(fc.nat(), fc.subarray([0, 1, 2], { minLength: 1 }))), {
      minLength: 4,
      maxLength: 4,
    }),
  )
  .map(([order, most, rests]) => {
    const space: Record<string, TypedHyperparameter> = {};
    for (const [index, name] of order.entries()) {
      const rest = rests[index];
      const parent = index === 0 || rest === null ? undefined : order[(rest?.[0] ?? 0) % index];
      const when: Conditions | undefined =
        parent === undefined ? undefined : { [`/${parent}`]: (rest?.[1] ?? []) as Json[] };
      const maxval = (most[index] ?? 0) + 1;
      const range = { type: "int", minval: 0, maxval, count: maxval + 1 } as const;
      space[name] = when === undefined ? range : { ...range, when };
    }
    return space;
  });

const term = fc.constantFrom(...names, "1", "a + b", "2 * c");
const comparison = fc
  .tuple(term, fc.constantFrom("<", "<=", "!=", "=="), term)
  .map((parts) => parts.join(" "));
const constraintLists = fc.array(
  fc.oneof(
    comparison,
    fc
      .tuple(comparison, fc.constantFrom("or", "and"), comparison)
      .map(([one, operator, other]) => `not (${one} ${operator} ${other})`),
  ),
  { maxLength: 3 },
);

/**
 * Returns the part of a full point that exists by the definition: without a hyperparameter, those that depend on it do
 * not exist either.
 */
function prunedOf(space: HyperparameterSpace, full: JsonObject): JsonObject {
  const point = { ...full };
  for (let before = -1; before !== Object.keys(point).length; ) {
    before = Object.keys(point).length;
    for (const key of Object.keys(point)) {
      const when = (space[key] as TypedHyperparameter).when ?? {};
      const there = Object.entries(when).every(([pointer, allowed]: [string, AllowedValues]) => {
        const value = point[pointer.slice(1)];
        return value !== undefined && isAllowedValue(allowed, value);
      });
      if (!there) delete point[key];
    }
  }
  return point;
}

function allowedPoints(space: HyperparameterSpace, constraints: readonly string[]): Set<string> {
  const rules = constraints.map((text) => evaluation(parseExpression(text)));
  const texts = new Set<string>();
  const plain = Object.fromEntries(
    Object.entries(space).map(([key, node]) => {
      const { when: _, ...rest } = node as TypedHyperparameter;
      return [key, rest as TypedHyperparameter];
    }),
  );
  for (let index = 0; index < gridSize(plain); index += 1) {
    const point = prunedOf(space, gridPoint(plain, index));
    if (rules.every((rule) => rule(point) !== false)) texts.add(textOf(point));
  }
  return texts;
}

const textOf = (point: JsonObject): string =>
  JSON.stringify(Object.entries(point).sort(([a], [b]) => (a < b ? -1 : 1)));

describe("any space", () => {
  it("has the grid that a filter of all points leaves, each point once", () => {
    fc.assert(
      fc.property(spaces, constraintLists, (space, constraints) => {
        const grid = gridOf({ space, searcher: { constraints } });
        const points = Array.from({ length: grid.size }, (_, i) => textOf(grid.pointAt(i)));
        const wanted = allowedPoints(space, constraints);
        expect(new Set(points)).toEqual(wanted);
        expect(points.length).toBe(wanted.size);
      }),
      { numRuns: 400 },
    );
  });

  it("gives trials only allowed points, if any exist", () => {
    fc.assert(
      fc.property(spaces, constraintLists, fc.nat(), (space, constraints, seed) => {
        const wanted = allowedPoints(space, constraints);
        fc.pre(wanted.size > 0);
        const search = new DrivenSearch();
        search.start(configOf({ ...randomOf(5, 0), constraints }, space), seed);
        for (const { hyperparameters = {}, number } of search.proposals()) {
          expect(wanted).toContain(textOf(hyperparameters));
          const { plan } = search.state;
          if (plan === null) throw new Error("the search has started");
          expect(pointOfTrial(plan, number).hyperparameters).toEqual(hyperparameters);
        }
        const inGrid = new DrivenSearch();
        inGrid.start(configOf({ ...gridSearcher(0), constraints }, space), seed);
        expect(inGrid.proposals()).toHaveLength(wanted.size);
      }),
      { numRuns: 150 },
    );
  });
});
