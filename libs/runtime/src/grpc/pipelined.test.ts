import { expect, test } from "vitest";
import { pipelined } from "./pipelined.ts";

async function* counting(to: number, taken: number[]): AsyncGenerator<number> {
  for (let n = 1; n <= to; n += 1) {
    taken.push(n);
    yield n;
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test("results have the order of the items, and a bounded number of tasks runs", async () => {
  const taken: number[] = [];
  const ends = new Map<number, () => void>();
  const task = async (n: number) => {
    await new Promise<void>((resolve) => ends.set(n, resolve));
    return n * 10;
  };
  const results = pipelined(counting(4, taken), 2, task);
  const first = results.next();
  await settled();
  expect([...ends.keys()]).toEqual([1, 2]);
  ends.get(2)?.();
  await settled();
  expect([...ends.keys()]).toEqual([1, 2]);
  ends.get(1)?.();
  expect(await first).toEqual({ done: false, value: 10 });
  expect(await results.next()).toEqual({ done: false, value: 20 });
  const third = results.next();
  await settled();
  for (const n of [3, 4]) ends.get(n)?.();
  expect((await third).value).toBe(30);
  expect((await results.next()).value).toBe(40);
  expect((await results.next()).done).toBe(true);
});

test("a result does not wait for another item, and a failure ends the results at its place", async () => {
  const silent = {
    [Symbol.asyncIterator]: () => {
      const items = [1, 2];
      const next = async (): Promise<IteratorResult<number>> => {
        const value = items.shift();
        return value === undefined ? new Promise(() => {}) : { done: false, value };
      };
      return { next };
    },
  };
  const results = pipelined(silent, 4, async (n) => {
    if (n === 2) throw new Error("the second fails");
    return n;
  });
  expect((await results.next()).value).toBe(1);
  await expect(results.next()).rejects.toThrow("the second fails");
});
