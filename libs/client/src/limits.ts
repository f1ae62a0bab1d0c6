export const clientLimits = {
  /** How long a repeatable call waits out "503 Retry-After": the takeover of a service takes 3 s, a restart of one 5. */
  busyMs: 15_000,
  /** How long a stream that broke off waits for the platform to come back. */
  awayMs: 30_000,
  /** Between two attempts when the platform does not say. */
  retryMs: 250,
} as const;
