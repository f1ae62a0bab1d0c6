import { expect, test } from "vitest";
import { PositionSignal } from "./position-signal.ts";

const eventOf = (stream: string) => ({ stream }) as never;

test("all who wait for a stream learn of its next event, and nobody of another's", () => {
  const signal = new PositionSignal();
  using first = signal.next("trial-1.1");
  using second = signal.next("trial-1.1");
  using other = signal.next("trial-1.2");
  signal.notify([eventOf("trial-1.1")]);
  expect([first, second, other].map((one) => one.signal.aborted)).toEqual([true, true, false]);
  using later = signal.next("trial-1.1");
  expect(later.signal.aborted).toBe(false);
});

test("nothing is kept of a stream that nobody waits for any more", () => {
  const signal = new PositionSignal();
  for (let run = 0; run < 1_000; run += 1) signal.next(`trial-${run}.1`)[Symbol.dispose]();
  expect(signal.streams).toBe(0);
  const first = signal.next("trial-1.1");
  using second = signal.next("trial-1.1");
  first[Symbol.dispose]();
  signal.notify([eventOf("trial-1.1")]);
  expect(second.signal.aborted).toBe(true);
});

test("a wait for each event of a stream wakes at all of them until it is disposed", () => {
  const signal = new PositionSignal();
  let woken = 0;
  const each = signal.each("trial-1.1", () => (woken += 1));
  for (const stream of ["trial-1.1", "trial-1.1", "trial-1.2"]) signal.notify([eventOf(stream)]);
  expect(woken).toBe(2);
  using other = signal.next("trial-1.1");
  each[Symbol.dispose]();
  signal.notify([eventOf("trial-1.1")]);
  expect([woken, other.signal.aborted, signal.streams]).toEqual([2, true, 0]);
});
