import { setTimeout as delay } from "node:timers/promises";

const limitMs = 90_000;
const betweenMs = 50;

/** Waits for a condition of another process; a failing look counts as "not yet", and is told when time is up. */
export async function eventually(
  what: string,
  holds: () => Promise<boolean>,
  forMs: number = limitMs,
): Promise<void> {
  const endMs = performance.now() + forMs;
  let problem: unknown;
  for (;;) {
    try {
      if (await holds()) return;
      problem = undefined;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > endMs) throw new Error(`in time: ${what}`, { cause: problem });
    await delay(betweenMs);
  }
}
