import { expect, test } from "vitest";
import { storableText } from "./text.ts";

test("a text is cut to its limit, and what no database takes is replaced", () => {
  expect(storableText("abcdef", 3)).toBe("abc");
  expect(storableText("a\0b", 10)).toBe("a\uFFFDb");
  // The cut goes through the middle of a character.
  expect(storableText("ab😀", 3)).toBe("ab\uFFFD");
  expect(storableText("fine 😀", 100)).toBe("fine 😀");
});
