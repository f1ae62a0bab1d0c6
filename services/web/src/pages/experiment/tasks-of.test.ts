import { expect, test } from "vitest";
import { tasksOf } from "./tasks-of.ts";

const task = (name: string, ...sources: string[]) => ({ name, sources });

test("the tasks of an experiment show it or its trials, not one whose number begins alike", () => {
  const own = [task("", "12"), task("", "12.3", "13")];
  const others = [task("", "120"), task("", "120.12"), task("")];
  expect(tasksOf([...own, ...others], "12")).toEqual(own);
});

test("a notebook belongs to the experiment that its name names", () => {
  const own = [task("Experiment 12, plots"), task("errors of trial 12.3")];
  const others = [task("resnet 12"), task("experiment 120"), task("experiment 12.3.1")];
  expect(tasksOf([...own, ...others], "12")).toEqual(own);
});
