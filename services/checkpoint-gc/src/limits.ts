export const gcLimits = {
  /** Evidence is at most 16 neighbours: half of them by value, half by steps. */
  competitorsPerRanking: 8,
  /** How long what is condemned is kept, unless the environment says otherwise: time for a person to notice. */
  graceSeconds: 600,
  /** Checkpoints that are settled or deleted in one go, before new ones are looked for. */
  page: 100,
  /** How long after a change a live experiment is judged: many of its checkpoints come together. */
  sweepAfterMs: 5_000,
  /** Checkpoints that the preview of a deletion names as held. */
  heldShown: 1_000,
  /** A reason is part of an event and of each answer about the checkpoint. */
  reasonCharactersMax: 1_000,
  /** Patterns of one partial deletion, which are part of an event. */
  globsMax: 100,
  /** A clock that was set, or a wake-up that was lost, is noticed after this long. */
  lookAgainMs: 60_000,
  /**
   * A failed deletion is tried again after this long, then twice as long each time: a mount is back soon, or in days.
   */
  retryFirstMs: 1_000,
  retryLastMs: 10 * 60_000,
} as const;
