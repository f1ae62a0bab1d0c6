export const feedsLimits = {
  /** The events of a NATS subscription that wait for an answer. */
  natsWaitingMax: 256,
  /** The time after which an unanswered event comes again. */
  natsAgainMs: 30_000,
} as const;
