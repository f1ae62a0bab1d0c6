import { expect, test } from "vitest";
import { SharedLookups } from "./shared-lookups.ts";

/** Lookups that end when the test lets them. Each finds its number for the keys that are no guesses. */
class Lookups {
  readonly keys: (readonly string[])[] = [];
  readonly #ends: (() => void)[] = [];

  readonly look = (keys: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const number = this.keys.push(keys);
    const found = new Map(keys.flatMap((key) => (/guess/.test(key) ? [] : [[key, number]])));
    return new Promise((resolve) => this.#ends.push(() => resolve(found)));
  };

  async end(): Promise<void> {
    await new Promise(setImmediate);
    this.#ends.shift()?.();
    await new Promise(setImmediate);
  }
}

test("a thousand calls of one token and a thousand unknown ones delay another by one lookup", async () => {
  const lookups = new Lookups();
  const shared = new SharedLookups(lookups.look);
  const first = shared.get("heavy");
  await new Promise(setImmediate);
  const heavy = Array.from({ length: 1_000 }, () => shared.get("heavy"));
  const guesses = Array.from({ length: 1_000 }, (_, n) => shared.get(`guess ${n}`));
  const other = shared.get("other");
  await lookups.end();
  expect(await first).toBe(1);
  await lookups.end();
  expect(await other).toBe(2);
  expect(new Set(await Promise.all(heavy))).toEqual(new Set([2]));
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([undefined]));
  expect(lookups.keys.map((keys) => keys.length)).toEqual([1, 1_002]);
});

test("a call gets an answer whose lookup began after the call, so that it never sees an earlier state", async () => {
  const lookups = new Lookups();
  const shared = new SharedLookups(lookups.look);
  const first = shared.get("a");
  await new Promise(setImmediate);
  const second = shared.get("a");
  await lookups.end();
  expect(await first).toBe(1);
  const third = shared.get("a");
  await lookups.end();
  expect(await second).toBe(2);
  await lookups.end();
  expect(await third).toBe(3);
});

test("a lookup that fails fails its calls alone", async () => {
  let lookups = 0;
  const shared = new SharedLookups(async (keys) => {
    lookups += 1;
    if (lookups === 1) throw new Error("the database is away");
    return new Map(keys.map((key) => [key, key]));
  });
  const first = shared.get("a");
  const failed = expect(first).rejects.toThrow("away");
  await Promise.resolve();
  const second = shared.get("a");
  await failed;
  expect(await second).toBe("a");
});
