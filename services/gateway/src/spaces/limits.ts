export const spaceLimits = {
  /**
   * The limits of a workspace or a project. A name is part of each commit of its experiments; a description is part of
   * an event.
   */
  nameCharactersMax: 255,
  descriptionBytesMax: 4 * 1024,
  notesBytesMax: 32 * 1024,
  /** The texts of kept environments in total: a few of the largest, and hundreds of usual ones, of some ten KiB. */
  environmentsKeptCharacters: 8 * 1024 * 1024,
  /** The maximal length of a reason; a longer one is cut. */
  reasonCharactersMax: 2_000,
  /**
   * The interval at which the log is searched for experiments that were deleted for good, beside the events themselves.
   */
  purgePauseMs: 60_000,
  /**
   * The longest wait of a create while content with the same digest is being deleted, which takes some milliseconds.
   */
  contentWaitMs: 2_000,
} as const;
