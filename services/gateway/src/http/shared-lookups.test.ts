import { expect, test } from "vitest";
import { SharedLookups } from "./shared-lookups.ts";

/** Lookups that end when the test lets them. */
class Lookups {
  readonly keys: string[] = [];
  readonly #ends: (() => void)[] = [];

  readonly look = (key: string): Promise<number> => {
    const number = this.keys.push(key);
    return new Promise((resolve) => this.#ends.push(() => resolve(number)));
  };

  async end(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise(setImmediate);
  }
}

test("a thousand calls of one token take two lookups, and those of another do not wait for them", async () => {
  const lookups = new Lookups();
  const shared = new SharedLookups(lookups.look);
  const many = Array.from({ length: 1_000 }, () => shared.get("heavy"));
  const other = shared.get("other");
  expect(lookups.keys).toEqual(["heavy", "other"]);
  await lookups.end();
  await lookups.end();
  expect(await other).toBe(2);
  expect(lookups.keys).toEqual(["heavy", "other", "heavy"]);
  await lookups.end();
  const answers = await Promise.all(many);
  expect([answers[0], ...new Set(answers.slice(1))]).toEqual([1, 3]);
});

test("a call gets an answer whose lookup began after the call, so that it never sees an earlier state", async () => {
  const lookups = new Lookups();
  const shared = new SharedLookups(lookups.look);
  const first = shared.get("a");
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
  const shared = new SharedLookups(async (key: string) => {
    lookups += 1;
    if (lookups === 1) throw new Error("the database is away");
    return key;
  });
  const [first, second] = [shared.get("a"), shared.get("a")];
  await expect(first).rejects.toThrow("away");
  expect(await second).toBe("a");
});
