import fc from "fast-check";
import { expect, test } from "vitest";
import { includesTime, isLater, noTimes, type Times, withLater } from "./times.ts";
import { UndoLog } from "./undo-log.ts";

const timesOf = (list: readonly number[]): Times =>
  list.reduce<Times>((times, time) => withLater(new UndoLog(), times, time), noTimes);

test("times contain exactly the given times, whether their intervals are equal or not", () => {
  const steps = fc.array(
    fc.oneof(
      fc.constant(1),
      fc.constantFrom(0.1, 2, 1e-9, 1e15),
      fc.double({ min: 1e-6, max: 9, noNaN: true }),
    ),
    {
      minLength: 1,
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(fc.double({ min: -5, max: 5, noNaN: true }), steps, (start, gaps) => {
      const list: number[] = [];
      let at = start;
      for (const gap of gaps) {
        if (at + gap > at) list.push((at += gap));
      }
      const times = timesOf(list);
      expect(list.every((time) => includesTime(times, time))).toBe(true);
      const between = list.map((time, i) => (time + (list[i + 1] ?? time + 1)) / 2);
      expect(between.filter((time) => includesTime(times, time))).toEqual(
        between.filter((time) => list.includes(time)),
      );
      expect(includesTime(times, start - 1)).toBe(false);
      expect(isLater(times, list.at(-1) ?? start)).toBe(list.length === 0);
    }),
  );
});

test("times with equal intervals are stored as one run of any length", () => {
  const times = timesOf(Array.from({ length: 10_000 }, (_, i) => (i + 1) * 100));
  expect(times).toMatchObject({ first: 100, step: 100, count: 10_000 });
  expect(times.earlier.length).toBe(0);
});
