import { expect, test } from "vitest";
import { mapConcurrently } from "./concurrently.ts";

test("at most the limit runs at once, and the results have the order of their items", async () => {
  let running = 0;
  let most = 0;
  const doubled = await mapConcurrently([1, 2, 3, 4, 5], 2, async (item, index) => {
    running += 1;
    most = Math.max(most, running);
    for (let turn = 0; turn < 6 - item; turn += 1) await Promise.resolve();
    running -= 1;
    return [index, 2 * item];
  });
  expect(doubled).toEqual([1, 2, 3, 4, 5].map((item, index) => [index, 2 * item]));
  expect(most).toBe(2);
});

test("the first failure is thrown, and the items that are left still run", async () => {
  const begun: number[] = [];
  const all = mapConcurrently([1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    if (item === 1) throw new Error("one failed");
  });
  await expect(all).rejects.toThrow("one failed");
  await new Promise(setImmediate);
  expect(begun).toEqual([1, 2, 3, 4]);
});
