import { useEffect, useRef, useState } from "react";
import type { Experiment } from "./tabs.ts";

const againMs = 1_000;

/** Repeats the read of a search's analysis when the experiment has changed, at most once a second. */
export function useReadAgain(
  { trials, trialsCompleted, trialsFailed, progress, bestValue, state }: Experiment,
  refetch: () => Promise<unknown>,
): void {
  const now = [trials, trialsCompleted, trialsFailed, progress, bestValue, state].join(" ");
  const latest = useRef(now);
  latest.current = now;
  const [read, setRead] = useState(now);
  // A further change while the timer runs does not restart the timer.
  const stale = read !== now;
  useEffect(() => {
    if (!stale) return undefined;
    const timer = setTimeout(() => {
      setRead(latest.current);
      void refetch();
    }, againMs);
    return () => clearTimeout(timer);
  }, [stale, refetch]);
}
