import { expect, test } from "vitest";
import { linesOfKeys } from "./yaml-lines.ts";

const text = [
  "name: iris",
  "hyperparameters:",
  "  lr:",
  "    type: const",
  '  "a b": 1',
  "searcher:",
  "  name: asha",
  "  divisor: 4",
  "log_policies:",
  "  - name: CUDA OOM",
  "    pattern: .*",
  "  - name: ECC",
  "storage:",
  "  name: asha",
  "debug: false",
].join("\n");

const linesOf = (...keys: readonly string[]): readonly string[] => {
  const lines = text.split("\n");
  return [...linesOfKeys(text, keys)].map((at) => lines[at]?.trim() ?? "");
};

test("a default is found at its path, not at another key with its name", () => {
  expect(linesOf("searcher.divisor", "debug")).toEqual(["divisor: 4", "debug: false"]);
  expect(linesOf("storage.name")).toHaveLength(1);
  expect([...linesOfKeys(text, ["storage.name"])]).toEqual([13]);
  expect(linesOf("hyperparameters.a b")).toEqual(['"a b": 1']);
});

test("all lines below a defaulted key are defaults", () => {
  expect(linesOf("log_policies")).toEqual([
    "log_policies:",
    "- name: CUDA OOM",
    "pattern: .*",
    "- name: ECC",
  ]);
  expect(linesOf("hyperparameters.lr")).toEqual(["lr:", "type: const"]);
});

test("a key that is missing in the text marks no line", () => {
  expect(linesOf("name.x", "divisor", "resources")).toEqual([]);
});
