import { expect, test } from "vitest";
import { killInMemory } from "./kill-in-memory.ts";
import { killProcess } from "./kill-process.ts";
import { methods } from "@trainyard/search/testing";

const seed = 11;

test.each(methods)("a searcher that dies at any call decides the same: %s", async (method) => {
  expect(await killInMemory(method, 3, seed)).toEqual({ points: 3, violations: [] });
});

test("a searcher process that is killed twice decides the same in every method", async () => {
  const { kills, violations } = await killProcess(2, seed, 40, () => {});
  expect(violations).toEqual([]);
  expect(kills).toBe(2);
});
