import { expect, test } from "vitest";
import { lookOf, looksOf } from "./look.ts";

test("eight trials have eight hues, and the next eight the same hues with dashes", () => {
  const first = Array.from({ length: 8 }, (_, index) => lookOf(index + 1));
  expect(first.map(({ hue }) => hue)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(first.every(({ dash }) => dash.length === 0)).toBe(true);
  expect(lookOf(9)).toEqual({ hue: 1, dash: [6, 3] });
  const sixteen = Array.from({ length: 16 }, (_, index) => JSON.stringify(lookOf(index + 1)));
  expect(new Set(sixteen).size).toBe(16);
});

test("a trial looks the same in any chart of up to sixteen trials", () => {
  expect(looksOf([3, 40], new Set()).get(40)).toEqual(lookOf(40));
  expect(looksOf([40], new Set()).get(40)).toEqual(lookOf(40));
});

test("among more than sixteen trials all but the emphasised ones are grey", () => {
  const trials = Array.from({ length: 17 }, (_, index) => index + 1);
  const looks = looksOf(trials, new Set([5]));
  expect(looks.get(5)).toEqual(lookOf(5));
  expect([...looks].filter(([, { hue }]) => hue === null)).toHaveLength(16);
});

test("several lines of one trial count as one trial", () => {
  const looks = looksOf([...Array.from({ length: 30 }, () => 1), 2], new Set());
  expect(looks.get(2)).toEqual(lookOf(2));
});
