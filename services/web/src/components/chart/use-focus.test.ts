import { expect, test } from "vitest";
import { isolatedAfter, nobody } from "./use-focus.ts";

test("a click isolates a trial, a click on another isolates that one, and a second click shows all", () => {
  const one = isolatedAfter(nobody, "12.1", false);
  const other = isolatedAfter(one, "12.2", false);
  expect([[...one], [...other]]).toEqual([["12.1"], ["12.2"]]);
  expect(isolatedAfter(other, "12.2", false).size).toBe(0);
});

test("a click with a modifier adds a trial to the isolated ones, or removes it", () => {
  const two = isolatedAfter(new Set(["12.1"]), "12.2", true);
  expect([...two]).toEqual(["12.1", "12.2"]);
  expect([...isolatedAfter(two, "12.1", true)]).toEqual(["12.2"]);
  expect([...isolatedAfter(two, "12.1", false)]).toEqual(["12.1"]);
});
