import { expect, test } from "vitest";
import { LineRanks } from "./line-ranks.ts";

const [stdout, stderr] = [1, 2];
const part = (source: number, text: string, continued = false) => ({ source, text, continued });

test("a line has the rank that its launcher wrote before it, and no rank without such a prefix", () => {
  const ranks = new LineRanks();
  expect(ranks.next(part(stdout, "[rank=12] loss 1"))).toBe(12);
  expect(ranks.next(part(stdout, "loss [rank=1] x"))).toBeNull();
  expect(ranks.next(part(stdout, "[rank=x] loss"))).toBeNull();
  expect(ranks.next(part(stdout, "[rank=9999999999] loss"))).toBeNull();
});

test("the parts of a long line have the rank of its beginning, even between lines of the other stream", () => {
  const ranks = new LineRanks();
  expect(ranks.next(part(stdout, "[rank=1] a", true))).toBe(1);
  expect(ranks.next(part(stderr, "[rank=2] e"))).toBe(2);
  expect(ranks.next(part(stdout, "[rank=5] is of the same line", true))).toBe(1);
  expect(ranks.next(part(stdout, "c"))).toBe(1);
  expect(ranks.next(part(stdout, "d"))).toBeNull();
});

test("a copy of the line ranks continues independently", () => {
  const ranks = new LineRanks();
  ranks.next(part(stdout, "[rank=1] a", true));
  const copy = ranks.copy();
  expect(copy.next(part(stdout, "b"))).toBe(1);
  expect(ranks.next(part(stdout, "b"))).toBe(1);
});
