export const gcLimits = {
  /** The competitors of each of two rankings that a condemnation names. */
  competitorsPerRanking: 8,
  /** The complete saves of a task that stay: the latest one, and two in case it is damaged or saved a mistake. */
  savesKept: 3,
  /** The default grace of a condemned checkpoint in seconds, which gives a person time to notice. */
  graceSeconds: 600,
  /** The most checkpoints that one pass settles or deletes. */
  page: 100,
  /** The delay from a change of a running experiment to its judgement: its checkpoints often come several at a time. */
  sweepAfterMs: 5_000,
  /**
   * The longest wait for a value after the end of a run that names no last validation, or one that never arrives. An
   * agent that was away delivers the run's reports within this time; afterwards the checkpoint is judged without one.
   */
  valueAwaitedMs: 8 * 24 * 3_600_000,
  /** The time between two looks for runs that ended that long ago: the wait is in days. */
  overdueLookMs: 3_600_000,
  /** A greater advance of the log's clock over the monotonic clock restarts all graces: clocks differ by seconds. */
  clockJumpMs: 60_000,
  /** The most held checkpoints that the preview of a deletion names. */
  heldShown: 1_000,
  /** The longest reason: it is part of an event and of each answer about the checkpoint. */
  reasonCharactersMax: 1_000,
  /** The most patterns of one partial deletion: they are part of an event. */
  globsMax: 100,
  /** A mount that returns no marker in this time counts as hanging: a busy file server answers in a second. */
  seenMs: 5_000,
  /**
   * The longest wait for the removal of one folder: a busy file server removes thousands of files in a minute. A longer
   * removal continues meanwhile, and the retry notices its end.
   */
  removeMs: 60_000,
  /** The longest sleep of the deletion loop, after which it notices a changed clock or a lost wake-up. */
  lookAgainMs: 60_000,
  /**
   * The first retry delay of a failed deletion; each later one is twice as long. A mount may be back soon, or in days.
   */
  retryFirstMs: 1_000,
  retryLastMs: 10 * 60_000,
  /** The most rows that one statement deletes of a deleted experiment: it takes a fraction of a second. */
  rowsPerPurge: 5_000,
} as const;
