import { systemClock } from "@trainyard/kernel/system-clock";
import { useEffect, useState } from "react";

/** The browser's clock. */
export const clock = systemClock;

/** The current time, for ages: a component that uses it is rendered again after each interval. */
export function useNow(everyMs = 10_000): number {
  const [nowMs, setNowMs] = useState(() => clock.nowMs());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(clock.nowMs()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}
