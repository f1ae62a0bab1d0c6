/** The searches' named limits, each with its reason. */
export const searchLimits = {
  /**
   * Trials that one continuation takes up again: their numbers are part of an event of at most 256 KiB. The others stay
   * as they ended.
   */
  continuedTrialsMax: 1_000,
  /**
   * Proposals in one decision: composing them stays within the few milliseconds that a reaction may take, also where
   * concurrency is unlimited. What is left over is proposed at the next outcomes; there are always some to come.
   */
  proposalsPerDecisionMax: 1_000,
  /** Bytes of hyperparameters in one decision, so that a space with a large constant does not make a huge commit. */
  proposalBytesPerDecisionMax: 4 * 1024 * 1024,
  /**
   * Waiting trials that one decision ends because their rung has closed: the rest follow as these end.
   */
  closingsPerDecisionMax: 200,
  /** Operations that the client of a custom search posts at once: each makes one or two events of the same commit. */
  operationsPerPostMax: 100,
  /** They are recorded in one event, which holds 256 KiB: bytes of that event as it is encoded. */
  operationBytesPerPostMax: 192 * 1024,
  /**
   * Trials that a client stops by finishing its search: with the longest of reasons they are one commit of 12 MiB; the
   * log takes 16.
   */
  stopsPerFinishMax: 2_000,
  /**
   * Why a client stops, suspends or finishes: a sentence for people, which each trial that it concerns carries along.
   */
  reasonCharactersMax: 1_000,
  /**
   * Trials whose hyperparameters were invalid are replaced without being counted, but not forever: as many as the
   * search has trials, and at least this many. A space in which nothing works would never end otherwise.
   */
  replacementsMin: 100,
  /**
   * Names of what was reported are shown up to here, and values of hyperparameters that were changed: enough to know
   * them.
   */
  shownCharactersMax: 255,
  /**
   * Draws of one trial under constraints, until one satisfies them: enough for a space of which a thousandth is
   * allowed. Each costs a few microseconds.
   */
  attemptsPerPointMax: 10_000,
  /**
   * Steps of the walk over a grid with conditions or constraints, which is made in one go: some hundred milliseconds.
   */
  gridStepsMax: 300_000,
  /** Decisions of one trial in a picture of the search: only the client of a custom search makes more of them. */
  picturedDecisionsMax: 100,
} as const;
