/** The limits of the read model and of the lists that it answers. */
export const readModelLimits = {
  pageSizeDefault: 100,
  pageSizeMax: 1_000,
  /** The bytes of the documents of a page; a larger document is a page of its own. */
  pageBytes: 4 * 1024 * 1024,
  /** The trials of a deleted experiment whose rows are removed together, and the runs and validations for each. */
  removedTrials: 100,
  removedRowsOfTrial: 10,
  /** The interval at which rows of deleted experiments are looked for, and the rest while the log is applied. */
  removalPauseMs: 60_000,
  removalRestMs: 200,
  /** The time limit of one query of a list; beyond it the error names the slowest condition. */
  listQueryMs: 3_000,
  /**
   * The connections to the database: those of lists, of watchers and of the view's loop, and as many for commands and
   * single documents. The callers are looked up on connections of their own, so that nobody's queries delay them.
   */
  connections: 16,
  callerConnections: 2,
  /**
   * The list queries that run at once, whatever call makes them; the other connections are for commands, single
   * documents and the read model.
   */
  listQueries: { max: 4, ofOneMax: 2, waitingOfOneMax: 32 },
  /** The most rows that are counted exactly; beyond it the total is an estimate. */
  countedRowsMax: 10_000,
  /** The interval at which the lag of the read model is checked. */
  lagCheckMs: 500,
  /** The lag beyond which the read model answers no reads, since they would return stale data. */
  readLagMsMax: 15_000,
  /** The longest wait of the start for the read model; /readyz then reports that it is behind. */
  startWaitMs: 2_000,
  /** The existing names that the error for an unknown name lists. */
  namesTold: 20,
} as const;
