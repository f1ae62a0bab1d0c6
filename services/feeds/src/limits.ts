export const feedsLimits = {
  /** The events of a NATS subscription that wait for an answer. */
  natsWaitingMax: 256,
  /** The time after which an unanswered event comes again. */
  natsAgainMs: 30_000,
  /** The bytes of one batch for Kafka: brokers take 1 MiB of a partition unless they are set up for more. */
  kafkaBatchBytesMax: 900_000,
  /** The time until a connection to a broker is open; with TLS and SASL it takes several round trips. */
  kafkaConnectMs: 10_000,
  /** The time until a broker has answered, of which it may wait 30 s for its replicas. */
  kafkaAnswerMs: 40_000,
} as const;
