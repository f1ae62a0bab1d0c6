import { setTimeout as delay } from "node:timers/promises";

const limitMs = 200_000;
/**
 * A check may cost the platform more than the awaited work: the longer the wait, the rarer the checks, at most a
 * twentieth late.
 */
const betweenMs = { shortest: 50, longest: 250, share: 0.05 } as const;

/**
 * Waits for a condition of another process; a failing check counts as "not yet", and its error is reported on a
 * timeout.
 */
export async function eventually(
  what: string,
  holds: () => Promise<boolean>,
  forMs: number = limitMs,
): Promise<void> {
  const startMs = performance.now();
  let problem: unknown;
  for (;;) {
    try {
      if (await holds()) return;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    const waitedMs = performance.now() - startMs;
    if (waitedMs > forMs) throw new Error(`in time: ${what}`, { cause: problem });
    const { shortest, longest, share } = betweenMs;
    await delay(Math.min(longest, Math.max(shortest, waitedMs * share)));
  }
}
