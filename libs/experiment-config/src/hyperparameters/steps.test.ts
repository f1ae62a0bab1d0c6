import { isRejection } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { parseExperiment } from "../parse.ts";

const defaults = { checkpoint_storage: { type: "directory", container_path: "/c" } };

function parsed(x: string, searcher = "name: random, max_trials: 5") {
  const text = `
entrypoint: "true"
hyperparameters: {x: ${x}}
searcher: {${searcher}, metric: loss}
`;
  return parseExperiment(text, { defaults });
}

test.each([
  ["{type: int, minval: 16, maxval: 100, step: 16}", { step: 16 }],
  ["{type: double, minval: 0, maxval: 0.5, step: 0.1}", { step: 0.1 }],
  ["{type: int, minval: 1, maxval: 1000, log: true}", { log: true }],
])("the configuration keeps the step or the scale of %s", (x, kept) => {
  const result = parsed(x);
  expect(isRejection(result) ? result.detail : result.config.hyperparameters["x"]).toMatchObject(
    kept,
  );
});

test("an int without step and scale is recorded without these keys", () => {
  const result = parsed("{type: int, minval: 1, maxval: 3, log: false}");
  expect(isRejection(result) ? result.detail : result.config.hyperparameters["x"]).toEqual({
    type: "int",
    minval: 1,
    maxval: 3,
    count: null,
  });
});

test.each([
  ["{type: int, minval: 1, maxval: 4, step: 9}", "x.step must not be greater than the range: 9"],
  ["{type: int, minval: 1, maxval: 4, step: 0.5}", "x.step must be a whole number"],
  ["{type: double, minval: 0, maxval: 1, step: 0}", "x.step must be greater than 0"],
  [
    "{type: double, minval: 0, maxval: 1, step: 1.0e-12}",
    "x.step makes more than 2147483648 values",
  ],
  ["{type: double, minval: 0, maxval: 1, log: true}", "x.log is not a known key"],
  ["{type: int, minval: 0, maxval: 9, log: true}", "x.minval must be at least 1 with log: true"],
  ["{type: int, minval: 1, maxval: 9, log: true, step: 2}", "x.step must not be given with log"],
])("range %s is refused", (x, sentence) => {
  const result = parsed(x);
  expect(isRejection(result) && result.detail).toContain(`hyperparameters.${sentence}`);
});

test("a grid uses a step in place of a count, and refuses an int on a logarithmic scale", () => {
  expect(isRejection(parsed("{type: double, minval: 0, maxval: 1, step: 0.5}", "name: grid"))).toBe(
    false,
  );
  const result = parsed("{type: int, minval: 1, maxval: 9, log: true, count: 3}", "name: grid");
  expect(isRejection(result) && result.detail).toContain("x.log has no grid axis");
});

test("a given point between two steps is refused with a message that names the nearest value", () => {
  const points = "name: random, max_trials: 5, warm_start: {points: [{x: 0.3}, {x: 0.25}]}";
  const result = parsed("{type: double, minval: 0, maxval: 0.5, step: 0.1}", points);
  expect(isRejection(result) && result.detail).toContain(
    "searcher.warm_start.points[1].x is 0.25, which is between two steps: 0.3 is a value",
  );
});
