export const spaceLimits = {
  /**
   * The limits of a workspace or a project. A name is part of each commit of its experiments; a description is part of
   * an event.
   */
  nameCharactersMax: 255,
  descriptionBytesMax: 4 * 1024,
  notesBytesMax: 32 * 1024,
  /** The maximal length of a reason; a longer one is cut. */
  reasonCharactersMax: 2_000,
} as const;
