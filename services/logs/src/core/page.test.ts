import { describe, expect, test } from "vitest";
import { fittingFirst } from "./page.ts";

const bytesOf = (item: number): number => item;

describe("the lines that fit into a page", () => {
  test("is all of it within the limit", () => {
    expect(fittingFirst([3, 4, 3], bytesOf, 10)).toEqual([3, 4, 3]);
  });

  test("is a first part of more", () => {
    expect(fittingFirst([3, 4, 4], bytesOf, 10)).toEqual([3, 4]);
  });

  test("is one item at least, however large, and none of nothing", () => {
    expect(fittingFirst([11, 1], bytesOf, 10)).toEqual([11]);
    expect(fittingFirst([], bytesOf, 10)).toEqual([]);
  });
});
