export const clientLimits = {
  /**
   * The longest time of a call that only reads, or that a person waits for, until the end of a 503. A takeover of a
   * service takes 3 s, its restart 5 s.
   */
  busyMs: 15_000,
  /** The longest wait of streams, and of calls that outlast an outage: a minute of outage, and 15 s for the start. */
  awayMs: 75_000,
  /** The pause between two attempts when the platform names none. */
  retryMs: 250,
} as const;
