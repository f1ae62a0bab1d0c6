export const clientLimits = {
  /**
   * How long a call that only reads waits out "503 Retry-After": the takeover of a service takes 3 s, a restart of one
   * 5.
   */
  busyMs: 15_000,
  /**
   * How long anything that should outlast it waits for the platform to come back: one that is away for a minute, and
   * then starts.
   */
  awayMs: 75_000,
  /** Between two attempts when the platform does not say. */
  retryMs: 250,
} as const;
