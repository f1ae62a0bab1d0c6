/** Alternating rounds, since on a shared machine only measurements taken side by side can be compared. */
import type { BenchContext } from "./bench.ts";

export type Contender = {
  readonly name: string;
  /** Runs one round; returns a rate or a duration in the caller's unit. */
  readonly round: () => Promise<number>;
};

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * Runs the contenders alternately (A B A B …) and returns each one's median over `rounds`, without a first warm-up
 * round.
 */
export async function interleave<const Contenders extends readonly Contender[]>(
  contenders: Contenders,
  rounds: number,
  { say }: BenchContext,
): Promise<{ readonly [Index in keyof Contenders]: number }> {
  const taken = contenders.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, contender] of contenders.entries()) {
      const value = await contender.round();
      if (round > 0) taken[index]?.push(value);
      const place = round === 0 ? "warm-up" : `round ${round} of ${rounds}`;
      say(`  ${place}, ${contender.name}: ${value.toPrecision(4)}`);
    }
  }
  // The medians have the order of the contenders.
  return taken.map(median) as { readonly [Index in keyof Contenders]: number };
}

/** Calls `once` repeatedly from `callers` callers for `forMs`; returns calls per second. */
export async function callsPerSecond(
  callers: number,
  forMs: number,
  once: (caller: number) => Promise<void>,
): Promise<number> {
  let calls = 0;
  const start = performance.now();
  const end = start + forMs;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (performance.now() < end) {
        await once(caller);
        calls += 1;
      }
    }),
  );
  return calls / ((performance.now() - start) / 1000);
}

/**
 * Calls `once` at a steady pace, in bursts of a millisecond's worth, whether or not earlier calls have ended; returns
 * the milliseconds of each call.
 */
export async function pacedLatencies(
  perSecond: number,
  count: number,
  once: (index: number) => Promise<void>,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  const running: Promise<void>[] = [];
  const start = performance.now();
  const timed = async (index: number): Promise<void> => {
    const called = performance.now();
    await once(index);
    latencies.push(performance.now() - called);
  };
  for (let next = 0; next < count; ) {
    const due = Math.min(count, ((performance.now() - start) / 1000) * perSecond);
    for (; next < due; next += 1) running.push(timed(next));
    // Waits with a timer, since a busy loop would take the processor from the measured calls.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(running);
  return latencies;
}
