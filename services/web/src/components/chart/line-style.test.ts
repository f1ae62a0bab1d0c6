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

test("a trial looks the same in any chart of up to sixteen trials", () => {
  expect(lineStylesOf([3, 40], new Set()).get(40)).toEqual(lineStyleOf(40));
  expect(lineStylesOf([40], new Set()).get(40)).toEqual(lineStyleOf(40));
});

test("among more than sixteen trials all but the emphasised ones are grey", () => {
  const trials = Array.from({ length: 17 }, (_, index) => index + 1);
  const looks = lineStylesOf(trials, new Set([5]));
  expect(looks.get(5)).toEqual(lineStyleOf(5));
  expect([...looks].filter(([, { hue }]) => hue === null)).toHaveLength(16);
});

test("several lines of one trial count as one trial", () => {
  const looks = lineStylesOf([...Array.from({ length: 30 }, () => 1), 2], new Set());
  expect(looks.get(2)).toEqual(lineStyleOf(2));
});
