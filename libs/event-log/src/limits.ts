import { limits } from "@trainyard/kernel";

export const logLimits = {
  bodyBytesMax: limits.eventBodyBytesMax,
  writesPerAppendMax: limits.writesPerAppendMax,
  /** One commit is one message to the database; more than this is bulk data, which has its own paths. */
  commitBytesMax: 16 * 1024 * 1024,
  /** An index entry must fit a third of a page; names of streams and types are short anyway. */
  nameBytesMax: 512,
  /** Each of a commit's attributes; a traceparent is 55 bytes, ids are shorter. */
  metaBytesMax: 1024,
  /** The cause of a commit is a name or kind:id; a run's, an agent's and a token's are shorter than 80. */
  authidBytesMax: 200,
  /** A reason is for people; a stack trace longer than this is cut. */
  parkReasonCharactersMax: 4_000,

  /** Beyond some hundred commits the fsync is shared enough, and the last in the batch only waits longer. */
  batchCommitsMax: 256,
  /** Fewer than this travel faster in one batch than in two. */
  splitBatchAbove: 32,
  /** Bounds how long one batch keeps the others waiting. */
  batchBytesMax: 4 * 1024 * 1024,
  /**
   * On one connection, one after the other; a second one keeps the server busy while the answers to the first are
   * handed out.
   */
  batchesInFlightMax: 2,
  /** Appends waiting in one process; beyond it the caller hears that the log is overloaded instead of piling up. */
  waitingAppendsMax: 10_000,

  /** The server gives up first: no transaction lives 5 s. */
  statementTimeoutMs: 4_500,
  /** The client gives up on a connection that says nothing, a little after the server should have. */
  answerTimeoutMs: 6_000,
  connectTimeoutMs: 5_000,
  /** Connections of one process and role for reading. */
  readConnectionsMax: 4,
  /** Pages of the log that are read before they are asked for: one for each of the few readers of a process. */
  pagesAheadMax: 4,
  /** Smaller reads are lookups; read ahead only from this page size. */
  pageAheadFrom: 100,
  /** A reader that heard nothing asks this often whether the head has moved. */
  pollMs: 1_000,
  /** How long the listener waits before it connects again. */
  reconnectMs: 250,
  /** Looking into so many partitions costs less than asking first which of them hold a stream. */
  fewPartitions: 4,
  /** How often a process that reads streams asks how many partitions there are. */
  readsPerLook: 10_000,
  /** Commits per page while the chain is verified. */
  verifyPageCommits: 1_000,
} as const;
