import { expect, test } from "vitest";
import { firstParts } from "./upload.ts";

const part = (offset: number) => ({ offset, bytes: 1 });
const file = (path: string, parts: number) => ({
  path,
  parts: Array.from({ length: parts }, (_, offset) => part(offset)),
});

test("an answer has as many parts as it holds, in the order of the files", () => {
  const planned = firstParts([file("a", 2), file("b", 3), file("c", 1)], 4);
  expect(planned.map(({ parts }) => parts.length)).toEqual([2, 2, 0]);
});

test("an answer has no parts only where none is left to send", () => {
  expect(firstParts([file("a", 0), file("b", 5)], 3).map(({ parts }) => parts.length)).toEqual([
    0, 3,
  ]);
  expect(firstParts([file("a", 0)], 3)).toEqual([file("a", 0)]);
});
