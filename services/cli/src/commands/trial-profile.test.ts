import { expect, test } from "vitest";
import { tracesText } from "./trial-profile.ts";

test("a profile names the folder of the traces if it exists, or else the command that copies them", () => {
  const there = tracesText("3.1", "/mnt/tensorboard/3/1", () => true);
  expect(there).toBe("/mnt/tensorboard/3/1");
  const elsewhere =
    "not on this machine: `yard trial tensorboard 3.1 FOLDER` copies what the trial has written";
  expect(tracesText("3.1", "/mnt/tensorboard/3/1", () => false)).toBe(elsewhere);
  expect(tracesText("3.1", "", () => true)).toBe(elsewhere);
});
