import { expect, test } from "vitest";
import { unlistedText } from "./unlisted.ts";

test("a checkpoint without listed files says why: nothing is stored yet, it is deleted, or others read them", () => {
  expect(unlistedText({ files: 0, state: "DECLARED" })).toBe("It has no files yet.");
  const deleted = "Its files are listed while it is complete.";
  expect(unlistedText({ files: 2, state: "DELETED", task: "t1" })).toBe(deleted);
  expect(unlistedText({ files: 2, state: "CONDEMNED" })).toBe(deleted);
  expect(unlistedText({ files: 2, state: "COMPLETED", task: "t1" })).toBe(
    "Its owner reads the files, and those with task_control in the workspace.",
  );
});
