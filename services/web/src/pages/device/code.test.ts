import { expect, test } from "vitest";
import { codeText } from "./code.ts";

test("a code may be typed in lower case, with spaces and without its hyphen", () => {
  for (const typed of ["bcdf-ghjk", "BCDFGHJK", " bcdf ghjk "]) {
    expect(codeText(typed)).toBe("BCDF-GHJK");
  }
  expect(codeText("bcd")).toBe("BCD");
  expect(codeText("")).toBe("");
});
