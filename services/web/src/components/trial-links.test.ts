import { expect, test } from "vitest";
import { partsOf } from "./trial-links.ts";

test("the name of a trial in a reason becomes a link if the trial is of this experiment", () => {
  expect(partsOf("Trial 3.1: run 1: out of memory", "3")).toEqual([
    { text: "Trial 3.1", trial: "3.1" },
    { text: ": run 1: out of memory" },
  ]);
  expect(partsOf("killed by ada: see trial 3.12.", "3")).toEqual([
    { text: "killed by ada: see " },
    { text: "trial 3.12", trial: "3.12" },
    { text: "." },
  ]);
});

test("other numbers in a reason are not links", () => {
  for (const text of ["", "trial 4.1 failed", "trial 3.1.2 of tensorflow", "loss 3.1", "trial 3"]) {
    expect(partsOf(text, "3").some(({ trial }) => trial !== undefined)).toBe(false);
  }
});
