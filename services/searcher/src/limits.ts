/** The limits of the searcher, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  /**
   * The least growth of a search's stream between two snapshots, which also has to be a quarter of it. A takeover then
   * folds fewer events than it reads.
   */
  snapshotEveryEvents: 500,
  /** The trials whose run requests are cached; those of other trials are read from the log at a report. */
  runRequestsKept: 20_000,
  /** The events of one read of a trial's stream: most streams have a few dozen. */
  pageEvents: 500,
  /**
   * The most events of earlier searches that a warm start reads. It takes about a second, during which the partition's
   * other searches wait. A search of 5,000 trials with 20 reports each has as many.
   */
  earlierEventsMax: 110_000,
  /**
   * The longest wait of a free place for a model's suggestion; then it is filled without one. A model takes a tenth of
   * a second with hundreds of results, and several searches share its thread.
   */
  suggestionWaitMs: 2_000,
  /** The pause before a question is repeated after a failure of the model. */
  askAgainMs: 500,
} as const;
