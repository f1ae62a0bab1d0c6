export const relayLimits = {
  /** The events of one read: enough to amortise the round trip, and few enough to be published within milliseconds. */
  pageEvents: 500,
  /**
   * The most events that are read before the bus has confirmed them. The bus itself sends 512 at once; the rest hides
   * the time of reads.
   */
  eventsAheadMax: 2_000,
  /** The most bytes of their bodies: four pages of large events. */
  bytesAheadMax: 16 * 1024 * 1024,
  /** The interval at which the log is read without a notification, which may be lost with a connection. */
  pollMs: 500,
  /** The interval at which the log's time is compared with the database's clock. */
  logTimeMs: 60_000,
  /** The most by which the log's time may be ahead of the clock, as after a failover between synchronised hosts. */
  logAheadMs: 1_000,
  /** The oldest events that a refill of a wiped stream includes: a week, like the stream's retention. */
  refillAgeMs: 7 * 24 * 60 * 60 * 1000,
  /** The most events of a refill: a gibibyte at about 1 KiB each. */
  refillEventsMax: 1_000_000,
} as const;
