import { describe, expect, test } from "vitest";
import { drawnMax, drawnOf, orderOf, readWhich, whichOf, whichText } from "./which-trials.ts";

/** The value of trial n of 250 is n, so the first is the smallest. The last has no value. */
const trials = Array.from({ length: 250 }, (_, at) => ({
  number: at + 1,
  ...(at === 249 ? {} : { bestValue: at + 1 }),
}));
const none: ReadonlySet<number> = new Set();
const numbers = (some: readonly { readonly number: number }[]): readonly number[] =>
  some.map(({ number }) => number).toSorted((a, b) => a - b);

describe("of more trials than fit", () => {
  test("the best are drawn, in the metric's direction, and a trial without a value is last", () => {
    const smallest = numbers(drawnOf(trials, "best", none, true));
    expect([smallest.length, smallest[0], smallest.at(-1)]).toEqual([drawnMax, 1, 200]);
    const largest = numbers(drawnOf(trials, "best", none, false));
    expect([largest.length, largest[0], largest.at(-1)]).toEqual([drawnMax, 50, 249]);
  });

  test("the latest or the first are drawn if the user chooses them", () => {
    expect(numbers(drawnOf(trials, "latest", none, true))[0]).toBe(51);
    expect(numbers(drawnOf(trials, "first", none, true)).at(-1)).toBe(200);
  });

  test("selected trials are always drawn", () => {
    const drawn = numbers(drawnOf(trials, "best", new Set([240, 250]), true));
    expect([drawn.length, drawn.at(-3), drawn.at(-2), drawn.at(-1)]).toEqual([200, 198, 240, 250]);
  });
});

test("all trials are drawn if they fit", () => {
  expect(drawnOf(trials.slice(0, 200), "latest", none, true)).toHaveLength(200);
});

test("the server lists the shown trials first, and the page names their choice", () => {
  expect(orderOf("best", true)).toBe("best_value");
  expect(orderOf("best", false)).toBe("best_value desc");
  expect(orderOf("latest", true)).toBe("number desc");
  expect(orderOf("first", true)).toBe("number");
  expect([whichOf("", true), whichOf("best_value", true), whichOf("number desc", true)]).toEqual([
    "first",
    "best",
    "latest",
  ]);
  expect([whichOf("best_value", false), whichOf("created_at", true)]).toEqual([null, null]);
  expect(whichText("best", "loss")).toBe("the best by loss");
  expect(whichText("latest", "loss")).toBe("the latest");
  expect([readWhich("latest"), readWhich("worst"), readWhich(undefined)]).toEqual([
    "latest",
    "best",
    "best",
  ]);
});
