import { ApiError, Unreachable } from "@trainyard/client";
import { expect, test } from "vitest";
import { aroundFault, filterFault, shownError } from "./problem.ts";

const problem = (status: number, code: string, detail: string) =>
  new ApiError({ type: "", title: "", status, detail, instance: "", code, errors: [] });

test("a problem is shown as a sentence with advice", () => {
  const stale = shownError(problem(412, "stale_revision", "experiment 12 has changed"));
  expect(stale.what).toBe("Experiment 12 has changed.");
  expect(stale.todo).toContain("load it again");
  expect(shownError(problem(500, "internal", "request r1 failed")).todo).not.toBe("");
});

test("an unavailable platform is reported, with the command that checks it", () => {
  expect(shownError(new Unreachable("no answer")).todo).toContain("yard cluster status");
});

test("a refused filter has the column and the message of its error", () => {
  const refused = problem(400, "invalid_filter", 'filter, column 9: "x" is no field');
  expect(filterFault(refused)).toEqual({ column: 9, detail: '"x" is no field.' });
  expect(filterFault(problem(400, "invalid_filter", "order_by names no field"))?.column).toBe(1);
  expect(filterFault(problem(503, "busy", "busy"))).toBeNull();
});

test("an error is marked at the word where it begins, or after the text at its end", () => {
  expect(aroundFault("a = 1 and (stat = 2)", 12)).toEqual(["a = 1 and (", "stat", " = 2)"]);
  expect(aroundFault("a = ", 5)).toEqual(["a = ", " ", ""]);
  expect(aroundFault("(a", 1)).toEqual(["", "(", "a"]);
});
