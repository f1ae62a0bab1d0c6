import { afterAll, beforeAll, expect, test } from "vitest";
import { slowPattern, slowTexts } from "../testing/lines.ts";
import { Patterns } from "./patterns.ts";

let patterns: Patterns;

beforeAll(() => {
  patterns = new Patterns("compares in a test");
});

afterAll(() => patterns[Symbol.asyncDispose]());

const texts = slowTexts(8);

test("waiting for other comparisons does not count against a comparison's time limit", async () => {
  const few = texts.slice(0, 2);
  const others = Array.from({ length: 3 }, () => patterns.match(slowPattern, few, 60_000));
  const cheap = await patterns.matchFirst(["x$"], [...texts, "x"], 150);
  expect(cheap).toMatchObject({ found: [8], unmatched: 0 });
  await Promise.all(others);
}, 60_000);

test("a comparison that has used up its time stops, and reports its progress", async () => {
  const { compared, found } = await patterns.match(slowPattern, texts, 100);
  expect(compared).toBeGreaterThan(0);
  expect(compared).toBeLessThan(8);
  expect(found).toEqual([]);
  const { unmatched } = await patterns.matchFirst([slowPattern], texts, 100);
  expect(unmatched).toBeGreaterThan(0);
});

test("an invalid or too large expression has a problem and matches nothing", async () => {
  expect(await patterns.problem("(")).toMatch(/missing closing/);
  expect(await patterns.problem("(\\pL{30}){30}(\\pL{30}){30}")).toMatch(/simpler/);
  expect(await patterns.problem("(a+)+$")).toBeNull();
  const { found, problems } = await patterns.matchFirst(["(", "a"], ["b", "a("], 1_000);
  expect(found).toEqual([undefined, 1]);
  expect(problems[0]).toMatch(/missing closing/);
  expect(problems[1]).toBeNull();
});
