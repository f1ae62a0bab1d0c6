import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";

test("timers fire in the order of their due times, each at its time", async () => {
  const clock = new ManualClock(1_000);
  const fired: string[] = [];
  clock.timer(20, () => fired.push(`b at ${clock.nowMs()}`));
  clock.timer(10, () => {
    fired.push(`a at ${clock.nowMs()}`);
    clock.timer(5, () => fired.push(`from a at ${clock.monotonicMs()}`));
  });
  clock.timer(30, () => fired.push("late"));
  clock.timer(1, () => fired.push("disposed"))[Symbol.dispose]();
  await clock.advance(20);
  expect(fired).toEqual(["a at 1010", "from a at 15", "b at 1020"]);
  expect(clock.monotonicMs()).toBe(20);
});

test("the work that a timer starts ends before the next timer fires", async () => {
  const clock = new ManualClock();
  const seen: string[] = [];
  clock.timer(1, () => void Promise.resolve().then(() => seen.push("promise of the first")));
  clock.timer(2, () => seen.push("second"));
  await clock.advance(2);
  expect(seen).toEqual(["promise of the first", "second"]);
});

test("skipped time makes timers late", async () => {
  const clock = new ManualClock();
  let firedMs = 0;
  clock.timer(10, () => {
    firedMs = clock.monotonicMs();
  });
  clock.skip(5_000);
  expect(firedMs).toBe(0);
  await clock.advance(1);
  expect(firedMs).toBe(5_000);
});
