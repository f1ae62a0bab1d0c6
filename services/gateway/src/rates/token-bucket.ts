/**
 * A token bucket: a call takes a token, tokens come back at a rate, and a full bucket allows a burst. It is kept as one
 * number, the time at which it is full again (the generic cell rate algorithm, ITU-T I.371), so a full bucket needs no
 * memory, and nothing acts while nobody calls. Times are whole microseconds, whose sums are exact. A refused call takes
 * nothing. A clock that goes back leaves an empty bucket at worst. A time that is further ahead than an empty bucket by
 * as much again is of another clock, and counts as full: nobody waits until it comes.
 */
export type Rate = {
  /** The calls in a second on average; at most a million. */
  readonly perSecond: number;
  /** The calls that a full bucket allows at once. */
  readonly burst: number;
};

export type Taken = {
  readonly isTaken: boolean;
  /** The time until the bucket is full. */
  readonly fullInMicros: number;
};

/** Takes a token at a time, from a bucket that is full again at another. Both times are of one clock. */
export function takeToken(rate: Rate, fullAtMicros: number, nowMicros: number): Taken {
  const tokenMicros = microsOfToken(rate);
  const emptyMicros = rate.burst * tokenMicros;
  const ahead = Math.max(0, fullAtMicros - nowMicros);
  const missing = ahead > 2 * emptyMicros ? 0 : Math.min(ahead, emptyMicros);
  const isTaken = missing + tokenMicros <= emptyMicros;
  return { isTaken, fullInMicros: isTaken ? missing + tokenMicros : missing };
}

export const microsOfToken = ({ perSecond }: Rate): number => Math.ceil(1_000_000 / perSecond);

/** Returns the calls that the bucket allows now. */
export const leftIn = (rate: Rate, { fullInMicros }: Taken): number =>
  rate.burst - Math.ceil(fullInMicros / microsOfToken(rate));

/** Returns the time after which the bucket allows a call. */
export function nextInMicros(rate: Rate, { fullInMicros }: Taken): number {
  const tokenMicros = microsOfToken(rate);
  return Math.max(0, fullInMicros - (rate.burst - 1) * tokenMicros);
}
