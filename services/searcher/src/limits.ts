/** The limits of what this service keeps, each with its reason. */
export const limits = {
  /** Reports that are there already are decided on in one commit, so many at most: some milliseconds of deciding. */
  eventsTogetherMax: 64,
  /** A search is saved each time its stream has grown by this much, and by a quarter: a takeover then folds fewer events than it reads. */
  snapshotEveryEvents: 500,
  /** A budget that falls due is looked at no more often than this, whatever the clocks say. */
  budgetAgainMs: 100,
  /** Trials whose run requests are kept in memory; the others' are read from the log when a report of theirs comes. */
  runRequestsKept: 20_000,
  /** A page of a trial's stream: most hold a few dozen events. */
  pageEvents: 500,
  /**
   * Events of earlier searches that are read for one that starts with them: about a second, in which the partition's other
   * searches wait. A search of 5,000 trials with 20 reports each has as many.
   */
  earlierEventsMax: 110_000,
  /**
   * A place that is free waits this long for a suggestion, and is filled without one then. A model takes a tenth of a
   * second with hundreds of results; several searches share its thread.
   */
  suggestionWaitMs: 2_000,
  /** After a model has failed, a question is asked again this much later. */
  askAgainMs: 500,
  /** The list of searches that have a model is saved each time the log has grown by this much: what a new holder reads. */
  askingSavedEveryEvents: 20_000,
} as const;
