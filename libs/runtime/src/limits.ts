export const runtimeLimits = {
  /** The Retry-After of every 429 and 503. */
  retryAfterSeconds: 1,
  /** A lease outlives two missed renewals; after a crash a standby takes over within this time. */
  leaseTtlMs: 3_000,
  leaseRenewMs: 1_000,
  /** The runs whose grant is known to be in the log: more than a large cluster has at a time. */
  grantsKnownMax: 20_000,
  /** How long known grants count before the newest of them is looked up again, which proves the others. */
  grantsConfirmedMs: 1_000,
  /** The stored runs of a page whose grants are looked up, one by one. */
  runsProvenAtOnce: 1_000,
  /** The maximum number of folds in memory per service; the least recently used are evicted. */
  cachedFoldsMax: 20_000,
  /**
   * The events in a page of the log: enough to amortise the round trip, and few enough to decode within about four
   * milliseconds.
   */
  pageEvents: 1_000,
  /** The live events buffered while a reaction is busy; beyond it the log is read instead. */
  liveBufferEvents: 5_000,
  /** The bytes of their bodies: a few pages of the log. */
  liveBufferBytes: 16 * 1024 * 1024,
  /** The shortest interval between log lines about events of another log: a busy cluster may send many. */
  strayEventsToldMs: 60_000,
  /** The interval between log lines about one outage of the log: a long outage must not fill the disk. */
  outageLoggedMs: 10_000,
  /** A retry is logged once in this time for each cause; others are counted. */
  retryLoggedMs: 60_000,
  /** The causes that are remembered; the oldest is forgotten, and logged again. */
  retryCausesKept: 1_000,
  /**
   * When a process is not ready. A database or bus is away for a few seconds during each restart, and a service catches
   * up within a minute after most outages.
   */
  readiness: { lookMs: 2_000, awayMs: 10_000, behindMs: 60_000, lateForMs: 60_000 },
  /** The interval of the looks at servers of which one has never answered. */
  firstLooksMs: 500,
  /** A refused append is forgotten after this time without another one: nobody writes any more. */
  writeForgottenMs: 60_000,
  /** The interval at which the parked events are counted, and how long a scrape waits for what is measured for it. */
  parkedLookMs: 5_000,
  measureMs: 1_000,
  /** The interval between two attempts of a start that waits for the database. */
  startRetryMs: 1_000,
  /** How long the feed waits for a silent bus before it reads the log. */
  silentBusMs: 1_000,
  /** How long the feed waits before it reads the log while the bus is disconnected. */
  absentBusMs: 100,
  /** A cursor is saved at the latest after this time, or this many events, if they caused no commit. */
  lazyCursorMs: 1_000,
  lazyCursorEvents: 1_000,
  /**
   * The pause between two transactions of a view that is level with the log and has no waiting reader: a busy log
   * causes at most ten transactions a second.
   */
  viewRestMs: 100,
  /** The interval at which a view's cursor row is read while no event concerns the view. */
  rowSeenMs: 500,
  /** Attempts at one decision whose streams change meanwhile, before it fails with a fault. */
  conflictRetriesMax: 20,
  /** The waits between attempts after a transient fault. */
  retry: { firstMs: 50, lastMs: 2_000 },
  /** The waits between attempts of an effect: a disk or a peer may be unavailable for hours. */
  effectRetry: { firstMs: 50, lastMs: 30_000 },
  /**
   * Different keys parked in a row before the loop stops: then the fault is probably the service's, not the events'.
   */
  parkedKeysInARowMax: 3,
  /** Folds of the whole log are saved after this much growth of the log, which a new leader then reads. */
  foldSavedEveryEvents: 20_000,
  /** A part of a fan-out is committed when it writes this many streams (the log's limit is 256). */
  streamsPerPart: 128,
  /**
   * Reactions to several events are committed when they produce this many events: some milliseconds of work for this
   * process and the log.
   */
  eventsTogether: 256,
  /** Streams that one page may set aside; more count as the view's fault, and the page is repeated instead. */
  setAsideAtOnceMax: 20,
  /** The characters of the reason that are kept: enough for a sentence with its value. */
  setAsideReasonCharacters: 500,
  /** The set-aside streams that are listed; an operator needs only the first. */
  setAsideShownMax: 200,
  /** How long a report of a rewind waits for the registry's answer. */
  rewindReportMs: 5_000,
  /** The interval at which a service whose deletions are held looks whether they were released. */
  heldLookMs: 2_000,
  /** The connections of one process to its service's tables. */
  tableConnectionsMax: 8,
  /** A connection that no query needs is closed after this time: to open one costs more than many queries. */
  idleConnectionMs: 60_000,
  connectTimeoutMs: 5_000,
  /** A connection without limits of time is probed after this silence, so that a dead one is noticed. */
  keepAliveMs: 10_000,
  /** The server cancels a statement before 5 s, so no transaction is longer; the client times out later. */
  statementTimeoutMs: 4_500,
  answerTimeoutMs: 6_000,
  /** Events of one verification step, during which the live view waits: some tens of milliseconds. */
  verifyPageEvents: 500,
  /** Rows compared in one step while the live view waits. */
  verifyPageRows: 2_000,
  /** A view without progress for this long is not verified. */
  verifyStandstillMs: 10_000,
  /** A verification answers after this time, complete or not. */
  verifyStepMs: 1_000,
  /** A verification that no caller has requested for this long is cancelled. */
  verifyForgottenMs: 30_000,
  /** Verifications kept at the same time, including completed ones; the oldest are dropped. */
  verificationsKept: 8,
  /** The time that in-flight work has after SIGTERM. */
  drainMs: 10_000,
  /** A look of an effect loop that takes this long is a span, whatever it does. */
  longEffectMs: 100,
  /** The time that the last spans have to reach the collector while a service ends. */
  tracesLastMs: 2_000,
  /** The time in which a request, or a message over gRPC, arrives. */
  requestMs: 120_000,
  /** A gRPC stream of requests ends after this time without one; its client opens it again when it has the next. */
  grpcIdleMs: 600_000,
  /** The largest message of a gRPC call that needs no token: health and reflection have a name or two. */
  grpcOpenMessageBytesMax: 4 * 1024,
  /** Concurrent gRPC calls of one connection; further ones wait in the client. */
  grpcStreamsPerConnection: 100,
  /** A dead connection is detected after this time. */
  grpcKeepAliveMs: 60_000,
  /** The interval at which the health service checks the readiness. */
  grpcHealthMs: 500,
  /** The time that running calls have when the server stops. */
  grpcDrainMs: 3_000,
  /** A client of a stream that does not read for this long is cut off; it can continue after its last message. */
  grpcSlowMs: 30_000,
  /** An answer that its client does not read for this long ends: it is in memory until then. */
  answerStalledMs: 300_000,
} as const;
