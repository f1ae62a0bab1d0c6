import { expect, test } from "vitest";
import { admits, subjectOf, triggers } from "./triggers.ts";

const event = (name: string, stream: string, data = {}) => ({ name, stored: { stream }, data });

test("a webhook is triggered by its own pattern and wait, and others' do not trigger it", () => {
  const matched = event("LogPatternMatched", "logsignal-a.1", { subscription: "oom" });
  expect([triggers("oom", matched), triggers("other", matched)]).toEqual([true, false]);
  const waited = event("QueueWaitExceeded", "subscription-slow");
  expect([triggers("slow", waited), triggers("other", waited)]).toEqual([true, false]);
  expect(triggers("oom", event("ExperimentEnded", "experiment-a"))).toBe(null);
});

test("an experiment that names webhooks has these, and one that excludes them has none", () => {
  const named = { names: ["a"], exclude: false };
  expect([admits("a", true, named), admits("b", false, named)]).toEqual([true, false]);
  expect([admits("a", true, null), admits("a", false, null)]).toEqual([false, true]);
  expect(admits("a", false, { names: ["a"], exclude: true })).toBe(false);
});

test("a long wait is about the experiment or task of its run", () => {
  const waited = (run: string) =>
    subjectOf({
      ...event("QueueWaitExceeded", "subscription-slow", { run }),
      experiment: "subscription-slow",
    });
  expect([waited("12.3#1"), waited("t12#2")]).toEqual(["12", "t12"]);
  const matched = event("LogPatternMatched", "logsignal-12.3", { subscription: "oom" });
  expect(subjectOf({ ...matched, experiment: "12" })).toBe("12");
});
