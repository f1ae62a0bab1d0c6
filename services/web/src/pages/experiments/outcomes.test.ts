import { expect, test } from "vitest";
import { actions, outcomeText, summaryOf } from "./outcomes.ts";

const item = (experiment: string, outcome: string, detail = "") => ({
  experiment,
  outcome,
  detail,
});

test("refusals with the same reason are one line", () => {
  const summary = summaryOf([
    item("1", "changed"),
    item("2", "refused", "experiment 2 has ended"),
    item("3", "refused", "experiment 3 has ended"),
    item("4", "unchanged"),
  ]);
  expect(summary).toEqual({
    changed: ["1"],
    unchanged: ["4"],
    refused: [{ detail: "it has ended", experiments: ["2", "3"] }],
  });
  expect(outcomeText({ done: "paused" }, summary)).toBe(
    "1 experiment paused, 1 needed no change, 2 were refused.",
  );
});

test("an action that ends or removes work has to be confirmed", () => {
  const dangerous = actions.filter(({ danger }) => danger).map(({ verb }) => verb);
  expect(dangerous).toEqual(["cancel", "kill", "delete"]);
});
