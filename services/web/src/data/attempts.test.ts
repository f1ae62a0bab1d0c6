import { ApiError, Unreachable } from "@trainyard/client";
import { expect, test } from "vitest";
import { Attempts } from "./attempts.ts";

const problem = (status: number) =>
  new ApiError({ type: "", title: "", status, detail: "", instance: "", code: "x", errors: [] });

/** Reports whether the same change keeps its key after its first attempt ended with this error. */
function keeps(error: unknown, laterMs = 1_000): boolean {
  const attempts = new Attempts();
  const first = attempts.keyOf("pause 1", 0);
  attempts.ended("pause 1", error);
  return attempts.keyOf("pause 1", laterMs) === first;
}

test("a change keeps the key of its last attempt while the outcome is unknown", () => {
  expect(keeps(new Unreachable("broke off"))).toBe(true);
  expect(keeps(problem(503))).toBe(true);
  expect(keeps(problem(429))).toBe(true);
});

test("a change gets a new key after an answer or a refusal", () => {
  expect(keeps(null)).toBe(false);
  expect(keeps(problem(412))).toBe(false);
  expect(keeps(problem(500))).toBe(false);
});

test("a change gets a new key long after a broken attempt, and so does another change", () => {
  expect(keeps(new Unreachable("broke off"), 3_600_000)).toBe(false);
  const attempts = new Attempts();
  expect(attempts.keyOf("pause 1", 0)).not.toBe(attempts.keyOf("pause 2", 0));
});
