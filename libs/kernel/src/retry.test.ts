import { expect, test } from "vitest";
import { Backoff, retryAfterMs, retrying } from "./retry.ts";
import type { Clock } from "./time.ts";

const policy = { firstMs: 50, lastMs: 150 };

/** A clock that jumps ahead whenever something waits for it. */
class PassingClock implements Clock {
  readonly delaysMs: number[] = [];
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  timer(afterMs: number, callback: () => void): Disposable {
    this.delaysMs.push(afterMs);
    const handle = setImmediate(() => {
      this.#nowMs += afterMs;
      callback();
    });
    return { [Symbol.dispose]: () => clearImmediate(handle) };
  }
}

function world(outcomes: readonly ("fails" | "succeeds" | "progresses and fails")[]) {
  const clock = new PassingClock();
  const stop = new AbortController();
  const attemptsMs: number[] = [];
  const waitsMs: number[] = [];
  const attempt = async (progressed: () => void): Promise<string> => {
    const outcome = outcomes[attemptsMs.length];
    attemptsMs.push(clock.monotonicMs());
    if (outcome === "progresses and fails") progressed();
    if (outcome !== "succeeds") throw new Error("away");
    return "done";
  };
  const failed = (_error: unknown, waitMs: number): void => void waitsMs.push(waitMs);
  const common = { policy, clock, signal: stop.signal, failed };
  return { clock, stop, attemptsMs, waitsMs, attempt, common };
}

test("each wait before a retry is twice the previous one, up to a maximum, and the first success is returned", async () => {
  const { attemptsMs, waitsMs, attempt, common } = world([
    "fails",
    "fails",
    "fails",
    "fails",
    "succeeds",
  ]);
  expect(await retrying(common, attempt)).toBe("done");
  expect(waitsMs).toEqual([50, 100, 150, 150]);
  expect(attemptsMs).toEqual([0, 50, 150, 300, 450]);
});

test("after progress, the wait before a retry is the first one again", async () => {
  const { waitsMs, attempt, common } = world([
    "fails",
    "fails",
    "progresses and fails",
    "succeeds",
  ]);
  expect(await retrying(common, attempt)).toBe("done");
  expect(waitsMs).toEqual([50, 100, 50]);
});

test("retrying stops when its signal aborts, during a wait and before the first attempt", async () => {
  const { clock, stop, attemptsMs, attempt, common } = world(["fails", "fails"]);
  const result = retrying(common, attempt);
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
  await Promise.resolve();
  expect(clock.delaysMs).toEqual([50]);
  stop.abort();
  expect(await result).toBeUndefined();
  expect(await retrying(common, attempt)).toBeUndefined();
  expect(attemptsMs).toEqual([0]);
});

test("a failure after the abort is not reported", async () => {
  const { stop, waitsMs, common } = world([]);
  const attempt = async (): Promise<never> => {
    stop.abort();
    throw new Error("cut off");
  };
  expect(await retrying(common, attempt)).toBeUndefined();
  expect(waitsMs).toEqual([]);
});

test("`failed` can throw, give up after a failure, or retry without a wait", async () => {
  const fatal = (error: unknown): never => {
    throw error;
  };
  const { clock, attempt, common } = world(["fails", "fails", "fails", "succeeds"]);
  await expect(retrying({ ...common, failed: fatal }, attempt)).rejects.toThrow("away");
  expect(await retrying({ ...common, failed: () => "enough" }, attempt)).toBeUndefined();
  expect(await retrying({ ...common, failed: async () => "at_once" as const }, attempt)).toBe(
    "done",
  );
  expect(clock.delaysMs).toEqual([]);
});

test("a wait with a spread differs by at most that fraction, and is never shorter than requested", async () => {
  const clock = new PassingClock();
  const { signal } = new AbortController();
  const spread = { ...policy, spread: 0.25 };
  for (let i = 0; i < 50; i += 1) await new Backoff(spread, clock, signal).wait();
  expect(Math.min(...clock.delaysMs)).toBeGreaterThanOrEqual(37.5);
  expect(Math.max(...clock.delaysMs)).toBeLessThanOrEqual(62.5);
  expect(new Set(clock.delaysMs).size).toBeGreaterThan(10);
  await new Backoff(spread, clock, signal).wait(5_000);
  expect(clock.delaysMs.at(-1)).toBe(5_000);
});

test("the header Retry-After is read in seconds, and an absent or unreadable one asks for no wait", () => {
  expect(["3", null, "Wed, 21 Oct 2026 07:28:00 GMT"].map(retryAfterMs)).toEqual([3_000, 0, 0]);
});
