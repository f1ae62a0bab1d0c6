import { expect, it } from "vitest";
import type { Algorithm } from "../algorithm.ts";
import { SearchMachine } from "../machine.ts";
import { configOf, DrivenSearch, randomOf } from "../testing/searches.ts";
import { random } from "./random.ts";
import { newestAlgorithm, recordedAlgorithm } from "./registry.ts";

it("finds the version that a search was started with, and the newest for a new search", () => {
  const older: Algorithm = { ...random, on: () => [] };
  const newer: Algorithm = { ...random, version: 2 };
  const algorithms = [older, newer];
  expect(newestAlgorithm("random", algorithms)).toBe(newer);
  expect(recordedAlgorithm("random", 1, algorithms)).toBe(older);
  expect(recordedAlgorithm("random", 3, algorithms)).toBeUndefined();
});

it("continues no search of a version that it does not know", () => {
  const search = new DrivenSearch();
  const [first] = search.start(configOf(randomOf(2, 1)));
  if (first?.type !== "SearchStarted") throw new Error("a search starts");
  const later = { ...first, data: { ...first.data, algorithmVersion: 2 } };
  expect(() => SearchMachine.of([later])).toThrow("version 2 of random search is known");
});
