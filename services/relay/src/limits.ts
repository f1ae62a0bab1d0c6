export const relayLimits = {
  /** One read of the log: enough to amortise the round trip, few enough to be on their way within milliseconds. */
  pageEvents: 500,
  /** Read ahead of what the bus has confirmed; the bus itself keeps 512 on the wire, the rest hides the reads. */
  eventsAheadMax: 2_000,
  /** The log's hint may be lost with a connection: then the log is asked this often. */
  pollMs: 500,
  /** How often the log's time is compared with the database's clock. */
  logTimeMs: 60_000,
  /** The log's time may be ahead of the clock by what a failover between synchronised hosts makes of it. */
  logAheadMs: 1_000,
  /** A stream that was wiped is refilled with what its retention would still hold: a week, … */
  refillAgeMs: 7 * 24 * 60 * 60 * 1000,
  /** … or as many events as fill a gibibyte at about 1 KiB each. */
  refillEventsMax: 1_000_000,
} as const;
