import { expect, test } from "vitest";
import { changedTexts, editsSince } from "./edits.ts";

test("only texts that the user has changed are sent", () => {
  const read = { name: "a", notes: "theirs" };
  expect(changedTexts(read, { name: "b" })).toEqual({ name: "b" });
  expect(changedTexts(read, { name: "a", notes: "" })).toEqual({ notes: "" });
});

test("a text that is edited while another is saved is kept", () => {
  expect(editsSince({ name: "b", notes: "more" }, { name: "b", notes: "some" })).toEqual({
    notes: "more",
  });
});
