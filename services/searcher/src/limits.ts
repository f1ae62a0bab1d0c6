/** The limits of what this service keeps, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  /**
   * A search is saved whenever its stream has grown by this much, and by a quarter: a takeover folds fewer events than
   * it reads.
   */
  snapshotEveryEvents: 500,
  /** The shortest time between two looks at due budgets. */
  budgetAgainMs: 100,
  /** Trials whose run requests are cached; other trials' are read from the log when they report. */
  runRequestsKept: 20_000,
  /** A page of a trial's stream: most hold a few dozen events. */
  pageEvents: 500,
  /**
   * Events of earlier searches that are read for one that starts with them: about a second, in which the partition's
   * other searches wait. A search of 5,000 trials with 20 reports each has as many.
   */
  earlierEventsMax: 110_000,
  /**
   * A place that is free waits this long for a suggestion, and is filled without one then. A model takes a tenth of a
   * second with hundreds of results; several searches share its thread.
   */
  suggestionWaitMs: 2_000,
  /** After a model has failed, a question is asked again this much later. */
  askAgainMs: 500,
  /**
   * The list of searches with a side loop is saved whenever the log has grown by this much: a new leader reads no more.
   */
  sideLoopsSavedEveryEvents: 20_000,
} as const;
