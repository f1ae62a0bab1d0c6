import { expect, test } from "vitest";
import { configDifferences } from "./configs.ts";

test("a difference of configurations names the keys whose values differ, without the values of secrets", () => {
  const before = {
    hyperparameters: { lr: 0.1, layers: [1, 2], same: { b: 1, a: 2 } },
    environment: { environment_variables: ["HF_TOKEN=one"] },
    data: { password: "p", kept: "k" },
    gone: { a: 1 },
  };
  const after = {
    hyperparameters: { lr: 0.2, layers: [1, 3], same: { a: 2, b: 1 }, "a.b": null },
    environment: { environment_variables: ["HF_TOKEN=two"] },
    data: { password: "q", kept: "k" },
  };
  expect(configDifferences(before, after)).toEqual([
    { path: "data.password", before: '"<masked>"', after: '"<masked>"' },
    {
      path: "environment.environment_variables",
      before: '["HF_TOKEN=<masked>"]',
      after: '["HF_TOKEN=<masked>"]',
    },
    { path: "gone", before: '{"a":1}', after: undefined },
    { path: 'hyperparameters["a.b"]', before: undefined, after: "null" },
    { path: "hyperparameters.layers", before: "[1,2]", after: "[1,3]" },
    { path: "hyperparameters.lr", before: "0.1", after: "0.2" },
  ]);
  expect(configDifferences(before, before)).toEqual([]);
});
