import { describe, expect, test } from "vitest";
import { fittingFirst } from "./page.ts";

const bytesOf = (item: number): number => item;

describe("the lines that fit into a page", () => {
  test("are all lines when they are within the limit", () => {
    expect(fittingFirst([3, 4, 3], bytesOf, 10)).toEqual([3, 4, 3]);
  });

  test("are the first lines of a longer list", () => {
    expect(fittingFirst([3, 4, 4], bytesOf, 10)).toEqual([3, 4]);
  });

  test("are at least one line, however large, and none of an empty list", () => {
    expect(fittingFirst([11, 1], bytesOf, 10)).toEqual([11]);
    expect(fittingFirst([], bytesOf, 10)).toEqual([]);
  });
});
