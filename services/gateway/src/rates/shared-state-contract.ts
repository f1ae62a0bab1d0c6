/** The contract of SharedState, for each adapter. */
import { randomBytes } from "node:crypto";
import { assert, type Clock } from "@trainyard/kernel";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { rateLimits } from "./limits.ts";
import type { SharedState } from "./shared-state.ts";
import { leftIn } from "./token-bucket.ts";

/** Runs the suite. `open` returns two views of one state, such as those of two replicas. */
export function sharedStateContract(
  name: string,
  clock: Clock,
  open: (
    stack: AsyncDisposableStack,
    skip: (why: string) => never,
  ) => Promise<readonly [SharedState, SharedState]>,
): void {
  describe(`${name}, a shared state`, () => {
    const stack = new AsyncDisposableStack();
    let opened: readonly [SharedState, SharedState] | undefined;
    let keys = 0;
    const parts: Parts = {
      clock,
      states: () => {
        assert(opened !== undefined, "the state is open");
        return opened;
      },
      key: () => `key-${(keys += 1)}`,
    };

    beforeEach(async ({ skip }) => {
      opened ??= await open(stack, skip);
    });

    afterAll(() => stack.disposeAsync());

    bucketTests(parts);
    bytesTests(parts);
  });
}

type Parts = {
  readonly clock: Clock;
  readonly states: () => readonly [SharedState, SharedState];
  /** Returns a key that no other test uses. */
  readonly key: () => string;
};

function bucketTests({ clock, states, key }: Parts): void {
  test("gives out a burst, and no token beyond it", async () => {
    const [one] = states();
    const [rate, bucket] = [{ perSecond: 1, burst: 5 }, key()];
    const taken = [];
    for (let n = 0; n < 7; n += 1) taken.push(await one.take(bucket, rate));
    expect(taken.filter(({ isTaken }) => isTaken)).toEqual(taken.slice(0, rate.burst));
    expect(taken.map((each) => leftIn(rate, each))).toEqual([4, 3, 2, 1, 0, 0, 0]);
  });

  test("gives a token back after its time", async () => {
    const [one] = states();
    const [rate, bucket] = [{ perSecond: 10, burst: 1 }, key()];
    expect((await one.take(bucket, rate)).isTaken).toBe(true);
    const began = clock.monotonicMs();
    await vi.waitFor(async () => expect((await one.take(bucket, rate)).isTaken).toBe(true), {
      timeout: 20_000,
      interval: 10,
    });
    expect(clock.monotonicMs() - began).toBeGreaterThan(50);
  });

  test("counts the calls of all replicas in one bucket, also when they come at once", async () => {
    const [one, other] = states();
    const [rate, bucket] = [{ perSecond: 1, burst: 100 }, key()];
    const began = clock.monotonicMs();
    const taken = await Promise.all(
      Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? one : other).take(bucket, rate)),
    );
    const count = taken.filter(({ isTaken }) => isTaken).length;
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(100 + (clock.monotonicMs() - began) / 1_000);
  });

  test("has a bucket for each key", async () => {
    const [one] = states();
    const rate = { perSecond: 1, burst: 1 };
    const taken = [await one.take(key(), rate), await one.take(key(), rate)];
    expect(taken.map(({ isTaken }) => isTaken)).toEqual([true, true]);
  });

  test("keeps the largest numbers exact", async () => {
    const [one, other] = states();
    const [rate, bucket] = [{ perSecond: 1, burst: 100_000 }, key()];
    const first = await one.take(bucket, rate);
    const second = await other.take(bucket, rate);
    expect(first).toEqual({ isTaken: true, fullInMicros: 1_000_000 });
    expect(second.fullInMicros).toBeGreaterThan(1_000_000);
    expect(second.fullInMicros).toBeLessThanOrEqual(2_000_000);
  });
}

function bytesTests({ clock, states, key }: Parts): void {
  test("returns to each replica the bytes that were put last under a key", async () => {
    const [one, other] = states();
    const name = key();
    expect(await one.get(name)).toBeNull();
    const bytes = randomBytes(rateLimits.keptOneBytesMax);
    await one.put(name, Uint8Array.of(1), 60_000);
    await one.put(name, bytes, 60_000);
    await one.put(key(), Uint8Array.of(2), 60_000);
    for (const state of [one, other]) expect(sameBytes(await state.get(name), bytes)).toBe(true);
  });

  test("forgets bytes after their time", async () => {
    const [one, other] = states();
    const name = key();
    await one.put(name, Uint8Array.of(1), 100);
    const began = clock.monotonicMs();
    await vi.waitFor(async () => expect(await other.get(name)).toBeNull(), {
      timeout: 20_000,
      interval: 10,
    });
    expect(clock.monotonicMs() - began).toBeGreaterThan(50);
  });

  test("keeps no bytes beyond the limit of one answer", async () => {
    const [one, other] = states();
    const name = key();
    await one.put(name, new Uint8Array(rateLimits.keptOneBytesMax + 1), 60_000);
    expect(await other.get(name)).toBeNull();
  });
}

const sameBytes = (bytes: Uint8Array | null, others: Uint8Array): boolean =>
  bytes !== null && Buffer.compare(bytes, others) === 0;
