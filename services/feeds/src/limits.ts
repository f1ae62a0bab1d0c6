export const feedsLimits = {
  /** The shortest time without an acknowledgement after which a subscription may be deleted. */
  expiresAfterMsMin: 60_000,
  /** The most subscriptions: each reads the log, and each change of one reads them all. */
  subscriptionsMax: 1_000,
  /** The items of a page of subscriptions. */
  pageMax: 100,
  /** The latest events that are kept for the subscriptions that are level with the log. */
  recentEventsMax: 4_096,
  /** The events that a subscription reads at once, from the log or from the latest events. */
  pageEvents: 500,
  /** How often an acknowledged place is stored. A place that was not stored comes again. */
  progressMs: 250,
  /** The pause before a failed sink is opened again, the first and the longest. */
  sinkRetry: { firstMs: 1_000, lastMs: 30_000, spread: 0.2 },
  /** How often tokens and subscriptions are checked for their end. */
  expiryMs: 30_000,
  /** The longest sentence that is kept as the last error of a subscription. */
  errorCharactersMax: 500,
  /** The events of a NATS subscription that wait for an answer. */
  natsWaitingMax: 256,
  /** The time after which an unanswered event comes again. */
  natsAgainMs: 30_000,
  /** How often a subscription looks whether somebody listens, and whether an answer is overdue. */
  natsLookMs: 1_000,
  /** The bytes of one batch for Kafka: brokers take 1 MiB of a partition unless they are set up for more. */
  kafkaBatchBytesMax: 900_000,
  /** The time until a connection to a broker is open; with TLS and SASL it takes several round trips. */
  kafkaConnectMs: 10_000,
  /** The time until a broker has answered, of which it may wait 30 s for its replicas. */
  kafkaAnswerMs: 40_000,
} as const;
