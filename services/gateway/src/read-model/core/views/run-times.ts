/** The time in which at least one run of an experiment or of a trial trained, and the sum of the times of its runs. */

type RunTimes = {
  readonly ranMs: number;
  /** The time since which a run trains without a gap; absent while none trains. */
  readonly runningSinceMs?: number | undefined;
  /** The number of runs that train. */
  readonly running: number;
  /** The sum of the times of the runs until `workedAtMs`, the last start or end of a run. */
  readonly workedMs: number;
  readonly workedAtMs: number;
};

export const neverRan = { ranMs: 0, running: 0, workedMs: 0, workedAtMs: 0 } as const;

export function started<Times extends RunTimes>(times: Times, atMs: number): Times {
  const { running, runningSinceMs = atMs } = times;
  return { ...times, ...worked(times, atMs), running: running + 1, runningSinceMs };
}

export function ended<Times extends RunTimes>(times: Times, atMs: number): Times {
  const running = Math.max(0, times.running - 1);
  if (running > 0) return { ...times, ...worked(times, atMs), running };
  const { runningSinceMs: _since, ...rest } = times;
  return { ...rest, ...worked(times, atMs), running, ranMs: ranUntil(times, atMs) } as Times;
}

function worked(times: RunTimes, atMs: number): Pick<RunTimes, "workedMs" | "workedAtMs"> {
  return { workedMs: workedUntil(times, atMs), workedAtMs: atMs };
}

/** Returns the time in which a run trained, until a moment. */
export function ranUntil(
  { ranMs, runningSinceMs }: Pick<RunTimes, "ranMs" | "runningSinceMs">,
  atMs: number,
): number {
  return ranMs + (runningSinceMs === undefined ? 0 : Math.max(0, atMs - runningSinceMs));
}

/** Returns the sum of the times of the runs, until a moment. */
export function workedUntil(
  { running, workedMs, workedAtMs }: Pick<RunTimes, "running" | "workedMs" | "workedAtMs">,
  atMs: number,
): number {
  return workedMs + running * Math.max(0, atMs - workedAtMs);
}
