import { ApiError, Unreachable } from "@trainyard/client";
import { expect, test } from "vitest";
import { Attempts } from "./attempts.ts";

const problem = (status: number) =>
  new ApiError({ type: "", title: "", status, detail: "", instance: "", code: "x", errors: [] });

/** Whether the same change has the same key after its first attempt ended so. */
function keeps(error: unknown, laterMs = 1_000): boolean {
  const attempts = new Attempts();
  const first = attempts.keyOf("pause 1", 0);
  attempts.ended("pause 1", error);
  return attempts.keyOf("pause 1", laterMs) === first;
}

test("a change has the key of its last attempt while the outcome of that is unknown", () => {
  expect(keeps(new Unreachable("broke off"))).toBe(true);
  expect(keeps(problem(503))).toBe(true);
  expect(keeps(problem(429))).toBe(true);
});

test("a change after an answer or a refusal is a new one", () => {
  expect(keeps(null)).toBe(false);
  expect(keeps(problem(412))).toBe(false);
  expect(keeps(problem(500))).toBe(false);
});

test("a change long after a broken attempt is a new one, and so is another change", () => {
  expect(keeps(new Unreachable("broke off"), 3_600_000)).toBe(false);
  const attempts = new Attempts();
  expect(attempts.keyOf("pause 1", 0)).not.toBe(attempts.keyOf("pause 2", 0));
});
