import { expect, test } from "vitest";
import { settingsOf } from "../settings.ts";
import { compatProblem } from "./config.ts";

const problemOf = (...settings: Parameters<typeof settingsOf>) =>
  compatProblem(settingsOf(...settings));
const compat = "determined";

test("Determined's rules include priority and fair share, each with or without preemption", () => {
  expect(problemOf("priority", { compat, preemption: true })).toBeNull();
  expect(problemOf("fair_share", { compat })).toBeNull();
});

test("Determined's rules exclude round robin, quotas and ageing, which Trainyard's rules include", () => {
  const quotas = [{ workspace: "w", slots: 1, borrow: false }];
  expect(problemOf("round_robin", { compat })).toContain("round_robin");
  expect(problemOf("priority", { compat, quotas })).toContain("quotas");
  expect(problemOf("priority", { compat, ageingMs: 1 })).toContain("ageing");
  expect(problemOf("round_robin", { quotas, ageingMs: 1 })).toBeNull();
});
