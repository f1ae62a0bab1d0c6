import { expect, test } from "vitest";
import { BodyBudget } from "./body-budget.ts";

const limits = { smallBytes: 10, smallBytesMax: 30, bytesMax: 100 };
const one = { name: "one", cut: () => {} };
const length = (bytes: number) => ({ "content-length": String(bytes) });

test("large bodies count until their processing ends, and refused and empty ones do not", async () => {
  const budget = new BodyBudget(limits);
  const first = budget.take(length(60), 80, one);
  expect(budget.take(length(60), 80, one)).toBeNull();
  expect(budget.take(length(0), 80, one)).not.toBeNull();
  expect(budget.take(length(1_000), 80, one)).not.toBeNull();
  expect(budget.heldBytes).toBe(60);
  await first?.during(async () => {
    // The client disconnects, but its body is still in memory.
    first.closed();
    expect(budget.heldBytes).toBe(60);
  });
  expect(budget.heldBytes).toBe(0);
});

test("small bodies count from their first byte, beside the large ones", () => {
  const budget = new BodyBudget(limits);
  budget.take(length(80), 80, one);
  const small = Array.from({ length: 3 }, () => budget.take(length(10), 80, one));
  expect(small).not.toContain(null);
  expect(budget.take(length(1), 80, one)).toBeNull();
  small[0]?.closed();
  expect(budget.take(length(10), 80, one)).not.toBeNull();
  expect(budget.heldBytes).toBe(110);
});

test("a body of unknown size counts as the largest that its route accepts", () => {
  const budget = new BodyBudget(limits);
  budget.take({ "transfer-encoding": "chunked" }, 80, one);
  expect(budget.heldBytes).toBe(80);
});

test("a body whose connection closes before its processing begins is released once", async () => {
  const budget = new BodyBudget(limits);
  const held = budget.take(length(60), 80, one);
  budget.take(length(30), 80, one);
  held?.closed();
  held?.closed();
  await held?.during(async () => {});
  expect(budget.heldBytes).toBe(30);
});

/** Takes bodies for callers in their order, and returns the numbers of the bodies that were cut off. */
function stage(...bodies: readonly (readonly [owner: string, bytes: number])[]) {
  const budget = new BodyBudget(limits);
  const cut: number[] = [];
  const take = ([name, bytes]: readonly [string, number], index: number) =>
    budget.take(length(bytes), 80, { name, cut: () => cut.push(index) });
  const held = bodies.map(take);
  return { budget, held, cut };
}

test("the first body of a caller takes the memory of the newest bodies of the caller with the most", () => {
  const some = stage(["a", 25], ["a", 25], ["b", 15], ["b", 15], ["a", 20], ["c", 30]);
  expect(some.cut).toEqual([4, 1]);
  expect(some.held).not.toContain(null);
  expect(some.budget.heldBytes).toBe(85);
});

test("no first body is cut off, and no body for a caller that has one", () => {
  const firsts = stage(["a", 60], ["b", 40], ["c", 20]);
  expect([firsts.cut, firsts.held[2]]).toEqual([[], null]);
  const second = stage(["a", 50], ["a", 30], ["b", 20], ["b", 20]);
  expect([second.cut, second.held[3]]).toEqual([[], null]);
});

test("nothing is cut off for a body that does not fit in the end", () => {
  const { cut, held } = stage(["a", 50], ["a", 40], ["b", 60]);
  expect([cut, held[2]]).toEqual([[], null]);
});

test("a body that is being processed is not cut off", async () => {
  const { budget, held, cut } = stage(["a", 50], ["a", 40]);
  await held[1]?.during(async () => {
    expect(budget.take(length(40), 80, one)).toBeNull();
  });
  expect(budget.take(length(40), 80, one)).not.toBeNull();
  expect(cut).toEqual([]);
});

test("a body that is being parsed counts although its client has left, and is not cut off", async () => {
  const { budget, held, cut } = stage(["a", 40], ["a", 50]);
  await held[1]?.parsing(async () => {
    expect(budget.take(length(40), 80, one)).toBeNull();
    held[1]?.closed();
    expect(budget.heldBytes).toBe(90);
  });
  expect([budget.heldBytes, cut]).toEqual([40, []]);
});
