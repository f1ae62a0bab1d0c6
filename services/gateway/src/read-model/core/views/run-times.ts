/** The time in which at least one run of an experiment or of a trial trained. */

type RunTimes = {
  readonly ranMs: number;
  /** The time since which a run trains without a gap; absent while none trains. */
  readonly runningSinceMs?: number | undefined;
  /** The number of runs that train. */
  readonly running: number;
};

export function started<Times extends RunTimes>(times: Times, atMs: number): Times {
  const { running, runningSinceMs = atMs } = times;
  return { ...times, running: running + 1, runningSinceMs };
}

export function ended<Times extends RunTimes>(times: Times, atMs: number): Times {
  const running = Math.max(0, times.running - 1);
  if (running > 0) return { ...times, running };
  const { runningSinceMs: _since, ...rest } = times;
  return { ...rest, running, ranMs: ranUntil(times, atMs) } as Times;
}

/** Returns the time in which a run trained, until a moment. */
export function ranUntil(
  { ranMs, runningSinceMs }: Pick<RunTimes, "ranMs" | "runningSinceMs">,
  atMs: number,
): number {
  return ranMs + (runningSinceMs === undefined ? 0 : Math.max(0, atMs - runningSinceMs));
}
