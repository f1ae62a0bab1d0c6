import fc from "fast-check";
import { expect, test } from "vitest";
import {
  leftIn,
  microsOfToken,
  nextInMicros,
  type Rate,
  type Taken,
  takeToken,
} from "./token-bucket.ts";

const rates = fc.record({
  perSecond: fc.integer({ min: 1, max: 1_000_000 }),
  burst: fc.integer({ min: 1, max: 2_000 }),
});

/** The times between calls, in microseconds: mostly short ones, so that the bucket becomes empty. */
const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(100), fc.nat(100_000), fc.nat(10_000_000)), {
  minLength: 1,
  maxLength: 300,
});

/** 2026 in microseconds. */
const beginning = 1_790_000_000_000_000;

/** Calls at each time, and returns the answers. */
function called(rate: Rate, times: readonly number[]): readonly (Taken & { at: number })[] {
  let fullAt = 0;
  return times.map((at) => {
    const taken = takeToken(rate, fullAt, at);
    fullAt = at + taken.fullInMicros;
    return { ...taken, at };
  });
}

function timesOf(between: readonly number[]): readonly number[] {
  let at = beginning;
  return between.map((gap) => (at += gap));
}

test("a bucket allows in no period more than its burst and what comes back meanwhile", () => {
  fc.assert(
    fc.property(rates, gaps, (rate, between) => {
      const taken = called(rate, timesOf(between)).filter(({ isTaken }) => isTaken);
      for (const [first, { at: from }] of taken.entries()) {
        for (const [last, { at: to }] of taken.entries()) {
          const most = rate.burst + ((to - from) * rate.perSecond) / 1_000_000;
          if (last >= first) expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
        }
      }
    }),
    { numRuns: 50 },
  );
});

test("a full bucket allows exactly its burst at once", () => {
  fc.assert(
    fc.property(rates, (rate) => {
      const times = Array.from({ length: rate.burst + 1 }, () => beginning);
      const taken = called(rate, times);
      expect(taken.map(({ isTaken }) => isTaken).lastIndexOf(true)).toBe(rate.burst - 1);
      expect(taken.map((one) => leftIn(rate, one)).slice(0, 2)).toEqual(
        [rate.burst - 1, Math.max(0, rate.burst - 2)].slice(0, rate.burst + 1),
      );
    }),
    { numRuns: 50 },
  );
});

test("a refused call takes nothing, and one after the named time is allowed, but none before", () => {
  fc.assert(
    fc.property(rates, gaps, (rate, between) => {
      for (const one of called(rate, timesOf(between))) {
        const next = nextInMicros(rate, one);
        const fullAt = one.at + one.fullInMicros;
        expect(takeToken(rate, fullAt, one.at + next).isTaken).toBe(true);
        if (next > 0) expect(takeToken(rate, fullAt, one.at + next - 1).isTaken).toBe(false);
        if (!one.isTaken) expect(next).toBeGreaterThan(0);
        expect(leftIn(rate, one) > 0).toBe(next === 0);
      }
    }),
  );
});

test("a clock that goes back leaves at worst an empty bucket", () => {
  fc.assert(
    fc.property(rates, fc.nat(), (rate, back) => {
      const full = called(rate, [beginning]).at(-1)?.fullInMicros ?? 0;
      const taken = takeToken(rate, beginning + full, beginning - back);
      expect(nextInMicros(rate, taken)).toBeLessThanOrEqual(Math.ceil(1_000_000 / rate.perSecond));
    }),
  );
});

test("an empty bucket allows no call when the clock goes back by less than its time", () => {
  fc.assert(
    fc.property(rates, fc.nat(), (rate, nat) => {
      const empty = rate.burst * microsOfToken(rate);
      const back = nat % (empty + 1);
      const taken = takeToken(rate, beginning + empty, beginning - back);
      expect(taken).toEqual({ isTaken: false, fullInMicros: empty });
    }),
  );
});

test("a time that no call can have left, as after a clock went back further, counts as a full bucket", () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 1 }), (rate, beyond) => {
      const empty = rate.burst * microsOfToken(rate);
      const taken = takeToken(rate, beginning + 2 * empty + beyond, beginning);
      expect([taken.isTaken, leftIn(rate, taken)]).toEqual([true, rate.burst - 1]);
    }),
  );
});
