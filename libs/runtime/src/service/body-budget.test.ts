import { expect, test } from "vitest";
import { BodyBudget } from "./body-budget.ts";

const limits = { smallBytes: 10, bytesMax: 100 };
const length = (bytes: number) => ({ "content-length": String(bytes) });

test("large bodies count until their processing ends; small and refused ones do not count", async () => {
  const budget = new BodyBudget(limits);
  const first = budget.take(length(60), 80);
  expect(budget.take(length(60), 80)).toBeNull();
  expect(budget.take(length(10), 80)).not.toBeNull();
  expect(budget.take(length(1_000), 80)).not.toBeNull();
  expect(budget.heldBytes).toBe(60);
  await first?.during(async () => {
    // The client disconnects, but its body is still in memory.
    first.closed();
    expect(budget.heldBytes).toBe(60);
  });
  expect(budget.heldBytes).toBe(0);
});

test("a body of unknown size counts as the largest that its route accepts", () => {
  const budget = new BodyBudget(limits);
  budget.take({ "transfer-encoding": "chunked" }, 80);
  expect(budget.heldBytes).toBe(80);
});

test("a body whose connection closes before its processing begins is released once", async () => {
  const budget = new BodyBudget(limits);
  const held = budget.take(length(60), 80);
  budget.take(length(30), 80);
  held?.closed();
  held?.closed();
  await held?.during(async () => {});
  expect(budget.heldBytes).toBe(30);
});
