/** The limits of searches, each with its reason. */
export const searchLimits = {
  /**
   * The most trials that one continuation reopens, since their numbers are in one event of at most 256 KiB. The others
   * keep their outcomes.
   */
  continuedTrialsMax: 1_000,
  /**
   * The most proposals in one decision, so that composing them takes only the few milliseconds of a reaction, even with
   * unlimited concurrency. The rest is proposed at the next outcomes, which always follow.
   */
  proposalsPerDecisionMax: 1_000,
  /** The most bytes of hyperparameters in one decision, so that a space with a large constant makes no huge commit. */
  proposalBytesPerDecisionMax: 4 * 1024 * 1024,
  /** The most waiting trials of a closed rung that one decision stops; the rest follow as these end. */
  closingsPerDecisionMax: 200,
  /** The most operations in one post of a custom search's client: each makes one or two events of the same commit. */
  operationsPerPostMax: 100,
  /** The most bytes of one post's operations, as encoded: they are recorded in one event of at most 256 KiB. */
  operationBytesPerPostMax: 192 * 1024,
  /**
   * The most trials that finishing a custom search may stop: with the longest reasons they make a commit of 12 MiB,
   * below the log's limit of 16 MiB.
   */
  stopsPerFinishMax: 2_000,
  /**
   * The most characters of a client's reason to stop, suspend or finish, which is repeated in each affected trial's
   * event.
   */
  reasonCharactersMax: 1_000,
  /**
   * The least number of replacements for trials with invalid hyperparameters, which do not count. The limit is the
   * number of the search's trials, but at least this. Without a limit, a space of invalid points would never end.
   */
  replacementsMin: 100,
  /**
   * The most characters of shown names of reported metrics and changed hyperparameter values, enough to recognise them.
   */
  shownCharactersMax: 255,
  /**
   * The most draws for one trial until one satisfies the constraints: enough for a space of which a thousandth is
   * allowed. A draw takes a few microseconds.
   */
  attemptsPerPointMax: 10_000,
  /**
   * The most steps of the walk over a grid with conditions or constraints, which takes some hundred milliseconds at
   * once.
   */
  gridStepsMax: 300_000,
  /** The most decisions of one trial in a picture; only the client of a custom search makes more of them. */
  picturedDecisionsMax: 100,
} as const;
