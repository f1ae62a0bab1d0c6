import { expect, test } from "vitest";
import { isLine, isStorable, storableText, utf8Bytes } from "./text.ts";

test("a text is cut to its limit, and characters that databases refuse are replaced", () => {
  expect(storableText("abcdef", 3)).toBe("abc");
  expect(storableText("a\0b", 10)).toBe("a\uFFFDb");
  // The cut is in the middle of a character.
  expect(storableText("ab😀", 3)).toBe("ab\uFFFD");
  expect(storableText("fine 😀", 100)).toBe("fine 😀");
});

test("a text with NUL or half of a character is not storable, and any other is", () => {
  for (const text of ["", "a\nb", "\u0001", "fine 😀"]) expect(isStorable(text)).toBe(true);
  for (const text of ["\0", "a\0b", "\uD83D", "\uDE00a"]) expect(isStorable(text)).toBe(false);
});

test("the length in UTF-8 equals that of the encoded text", () => {
  for (const text of ["", "abc", "äö", "€", "😀", "a😀b"]) {
    expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
  }
});

test("a line has no control character and no space at its ends", () => {
  for (const text of ["", "a b", "größe 😀"]) expect(isLine(text)).toBe(true);
  for (const text of [" a", "a ", "a\nb", "\u001b[31m", "a\u0085b", "\0"]) {
    expect(isLine(text)).toBe(false);
  }
});
