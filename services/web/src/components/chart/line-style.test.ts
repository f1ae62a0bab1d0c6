import { expect, test } from "vitest";
import { lineStyleOf, lineStylesOf } from "./line-style.ts";

test("eight trials have eight hues, and the next eight the same hues with dashes", () => {
  const first = Array.from({ length: 8 }, (_, index) => lineStyleOf(index + 1));
  expect(first.map(({ hue }) => hue)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(first.every(({ dash }) => dash.length === 0)).toBe(true);
  expect(lineStyleOf(9)).toEqual({ hue: 1, dash: [6, 3] });
  const sixteen = Array.from({ length: 16 }, (_, index) => JSON.stringify(lineStyleOf(index + 1)));
  expect(new Set(sixteen).size).toBe(16);
});

const line = (number: number, experiment = 12) => ({ of: `${experiment}.${number}`, look: number });

test("a trial looks the same in any chart of up to sixteen trials", () => {
  expect(lineStylesOf([line(3), line(40)], new Set()).get("12.40")).toEqual(lineStyleOf(40));
  expect(lineStylesOf([line(40)], new Set()).get("12.40")).toEqual(lineStyleOf(40));
});

test("among more than sixteen trials all but the emphasised ones are grey", () => {
  const lines = Array.from({ length: 17 }, (_, index) => line(index + 1));
  const looks = lineStylesOf(lines, new Set(["12.5"]));
  expect(looks.get("12.5")).toEqual(lineStyleOf(5));
  expect([...looks].filter(([, { hue }]) => hue === null)).toHaveLength(16);
});

test("several lines of one trial count as one trial", () => {
  const looks = lineStylesOf([...Array.from({ length: 30 }, () => line(1)), line(2)], new Set());
  expect(looks.get("12.2")).toEqual(lineStyleOf(2));
});

test("trials of the same number in two experiments are two trials", () => {
  const looks = lineStylesOf([line(1), { of: "13.1", look: 2 }], new Set());
  expect([looks.get("12.1"), looks.get("13.1")]).toEqual([lineStyleOf(1), lineStyleOf(2)]);
});
