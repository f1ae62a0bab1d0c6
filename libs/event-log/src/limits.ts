import { limits } from "@trainyard/kernel";

export const logLimits = {
  bodyBytesMax: limits.eventBodyBytesMax,
  writesPerAppendMax: limits.writesPerAppendMax,
  /** The largest version of a stream, which is an integer of the database. */
  versionMax: 2 ** 31 - 1,
  /** One commit is one database message; larger data does not belong in the log. */
  commitBytesMax: 16 * 1024 * 1024,
  /** Names of streams and types: an index entry must fit in a third of a page. */
  nameBytesMax: 512,
  /** Each attribute of a commit: a traceparent has 55 bytes, and ids are shorter. */
  metaBytesMax: 1024,
  /** The cause of a commit, a name or kind:id; those of runs, agents and tokens are shorter than 80 bytes. */
  authidBytesMax: 200,
  /** The reason of a parked event is for people; longer stack traces are cut. */
  parkReasonCharactersMax: 4_000,

  /** Beyond a few hundred commits a larger batch saves little fsync time, and its last commits only wait longer. */
  batchCommitsMax: 256,
  /** Fewer waiting commits than this are faster in one batch than in two. */
  splitBatchAbove: 32,
  /** Bounds how long one batch delays the others. */
  batchBytesMax: 4 * 1024 * 1024,
  /**
   * Batches on one connection, executed in order; the second one keeps the server busy while this process handles the
   * answers to the first.
   */
  batchesInFlightMax: 2,
  /** The most appends that wait in one process; more are refused as "overloaded". */
  waitingAppendsMax: 10_000,

  /** The server cancels a statement before 5 s, so no transaction is longer. */
  statementTimeoutMs: 4_500,
  /** The client closes a silent connection, later than the server's own timeout. */
  answerTimeoutMs: 6_000,
  connectTimeoutMs: 5_000,
  /** A connection without these limits is probed after this silence, so that a dead one is noticed. */
  keepAliveMs: 10_000,
  /** Read connections per process and role. */
  readConnectionsMax: 4,
  /**
   * A connection that no query needs is closed after this time. To open one costs both sides more than many queries, so
   * it outlives the pauses between the beats of leases and feeds.
   */
  idleConnectionMs: 60_000,
  /**
   * The bytes of bodies in a page: enough for a thousand usual events, and few enough to be read and folded far within
   * the time of a statement. An event of any size fits in several times.
   */
  pageBytesMax: 4 * 1024 * 1024,
  /** Pages of the log that are prefetched: one for each of a process's few sequential readers. */
  pagesAheadMax: 4,
  /** Smaller reads are lookups; read ahead only from this page size. */
  pageAheadFrom: 100,
  /** The interval at which a reader checks the head without a notification. */
  pollMs: 1_000,
  /** The wait of the listener before it reconnects. */
  reconnectMs: 250,
  /** Searching so few partitions costs less than a query for the partitions that contain a stream. */
  fewPartitions: 4,
  /** The number of stream reads after which a process counts the partitions again. */
  readsPerLook: 10_000,
  /** Commits per page of chain verification. */
  verifyPageCommits: 1_000,
} as const;
