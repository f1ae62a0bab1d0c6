import { expect, test } from "vitest";
import { chosenIn, withChoice } from "./remembered-metrics.ts";

test("the metrics of each experiment are remembered, and a new choice replaces the older one", () => {
  const one = withChoice(null, "12", "validation loss");
  const two = withChoice(withChoice(one, "13", "training loss"), "12", "validation accuracy");
  expect([chosenIn(two, "12"), chosenIn(two, "13"), chosenIn(two, "14")]).toEqual([
    "validation accuracy",
    "training loss",
    undefined,
  ]);
});

test("the choices of a hundred experiments are kept", () => {
  let text = "";
  for (let id = 1; id <= 101; id += 1) text = withChoice(text, String(id), "a b");
  expect([chosenIn(text, "1"), chosenIn(text, "2")]).toEqual([undefined, "a b"]);
});

test("a text that another program has stored is no choice", () => {
  for (const text of ["", "{", "7", '{"12":"a b"}', '[["12"],[12,"a b"],null]']) {
    expect(chosenIn(text, "12")).toBeUndefined();
  }
});
