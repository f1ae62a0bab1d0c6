export const runtimeLimits = {
  /** A lease outlives three missed renewals; a standby takes over within this after a crash. */
  leaseTtlMs: 3_000,
  leaseRenewMs: 1_000,
  /** Folds kept in memory per service; the least recently used go first. */
  cachedFoldsMax: 20_000,
  /**
   * A page of the log: large enough to amortise the round trip, small enough to decode within some four milliseconds.
   */
  pageEvents: 1_000,
  /** Live events held while a reaction is busy; beyond it the log is read instead. */
  liveBufferEvents: 5_000,
  /**
   * Events on the bus that are not this log's are logged at most this often: they may be every event of another
   * cluster.
   */
  strayEventsToldMs: 60_000,
  /** How long the feed trusts a silent bus before it asks the log. */
  silentBusMs: 1_000,
  /** The same while the bus is known to be away. */
  absentBusMs: 100,
  /** A cursor that caused nothing is written at the latest after this long, or this many events. */
  lazyCursorMs: 1_000,
  lazyCursorEvents: 1_000,
  /**
   * Between two transactions of a view that is level with the log and that nobody waits for: a busy log costs it ten
   * transactions a second, however its events arrive.
   */
  viewRestMs: 100,
  /** While no event concerns a view, its cursor's row is looked at this often. */
  rowSeenMs: 500,
  /** Attempts at one decision whose streams keep moving, before it counts as a fault of the world. */
  conflictRetriesMax: 20,
  /** Waiting between attempts after a fault of the world. */
  retry: { firstMs: 50, lastMs: 2_000 },
  /** An effect waits for a disk or a peer, which may be away for hours. */
  effectRetry: { firstMs: 50, lastMs: 30_000 },
  /** Different keys parked one after the other before the loop stops: the fault is ours, not theirs. */
  parkedKeysInARowMax: 3,
  /** A part of a fan-out is committed once it writes this many streams (the log takes 256). */
  streamsPerPart: 128,
  /**
   * Reactions to several events are committed once they make so many: some milliseconds of work for this process and
   * the log.
   */
  eventsTogether: 256,
  /**
   * Events of different streams set aside on one page before it counts as a fault of the view's: then it is repeated
   * instead.
   */
  setAsideAtOnceMax: 20,
  /** The kept part of the reason: enough for a sentence with its value. */
  setAsideReasonCharacters: 500,
  /** Streams that are set aside, listed at once: an operator reads the first. */
  setAsideShownMax: 200,
  /** Connections of one process to its own tables. */
  tableConnectionsMax: 8,
  connectTimeoutMs: 5_000,
  /** No transaction on this database lives 5 s; the server gives up first, the client a little later. */
  statementTimeoutMs: 4_500,
  answerTimeoutMs: 6_000,
  /** Events of one rebuild step, while the live view waits: some tens of milliseconds. */
  verifyPageEvents: 500,
  /** Rows compared at once while the live view waits. */
  verifyPageRows: 2_000,
  /** A view that comes no further in this time is not verified. */
  verifyStandstillMs: 10_000,
  /** A verification's answer comes after this long, done or not. */
  verifyStepMs: 1_000,
  /** A verification that nobody has asked for in this time ends. */
  verifyForgottenMs: 30_000,
  /** Verifications known at once, those that are over included; the oldest are forgotten. */
  verificationsKept: 8,
  /** After SIGTERM, in-flight work has this long. */
  drainMs: 10_000,
  /** The gRPC calls of one connection at once; further ones wait at the client. */
  grpcStreamsPerConnection: 100,
  /** A connection whose other end has gone is noticed after this long. */
  grpcKeepAliveMs: 60_000,
  /** How often the health service looks whether the service is ready. */
  grpcHealthMs: 500,
  /** Calls that are under way when the server ends have this long. */
  grpcDrainMs: 3_000,
  /** A client of a stream that leaves messages unread for so long is cut off: it continues after its last message. */
  grpcSlowMs: 30_000,
} as const;
