import { expect, test } from "vitest";
import { idIn, wordsFilter } from "./palette-query.ts";

test("a number is an experiment, and two numbers with a dot are a trial", () => {
  expect(idIn(" 12 ")).toEqual({ kind: "experiment", id: "12" });
  expect(idIn("12.3")).toEqual({ kind: "trial", id: "12.3" });
  expect(idIn("#12")).toEqual({ kind: "experiment", id: "12" });
  expect(idIn("12.3.4")).toBeNull();
  expect(idIn("resnet 12")).toBeNull();
});

test("words become a filter in which no character is an operator", () => {
  expect(wordsFilter('resnet (or) "x')).toBe('"resnet" "or" "x"');
  expect(wordsFilter("state = ERROR")).toBe('"state" "ERROR"');
  expect(wordsFilter(" ( ")).toBe("");
});
