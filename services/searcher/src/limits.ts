/** The limits of what this service keeps, each with its reason. */
export const limits = {
  /** A search is saved each time its stream has grown by this much: a takeover then folds fewer events than one page and a half. */
  snapshotEveryEvents: 500,
  /** Trials whose run requests are kept in memory; the others' are read from the log when a report of theirs comes. */
  runRequestsKept: 20_000,
  /** A page of a trial's stream: most hold a few dozen events. */
  pageEvents: 500,
} as const;
