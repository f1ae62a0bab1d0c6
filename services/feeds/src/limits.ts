const seconds = 1_000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

export const feedsLimits = {
  /** The shortest time without an acknowledgement after which a subscription may be deleted. */
  expiresAfterMsMin: 60_000,
  /** The most subscriptions: each reads the log, and each change of one reads them all. */
  subscriptionsMax: 1_000,
  /** The most webhooks with a log pattern: every log line is compared with all of them. */
  logPatternsMax: 100,
  /** The items of a page of subscriptions. */
  pageMax: 100,
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
  /** The time after which a change of the NATS users is written: the answer to the change goes first. */
  natsUsersAfterMs: 500,
  /** How often a subscription looks whether somebody listens, and whether an answer is overdue. */
  natsLookMs: 1_000,
  /** The bytes of one batch for Kafka: brokers take 1 MiB of a partition unless they are set up for more. */
  kafkaBatchBytesMax: 900_000,
  /** The time until a connection to a broker is open; with TLS and SASL it takes several round trips. */
  kafkaConnectMs: 10_000,
  /** The time until a broker has answered, of which it may wait 30 s for its replicas. */
  kafkaAnswerMs: 40_000,
  /** The waits after the failed attempts of a delivery: those of Standard Webhooks, about three days in sum. */
  webhookWaitsMs: [
    5 * seconds,
    5 * minutes,
    30 * minutes,
    2 * hours,
    5 * hours,
    10 * hours,
    14 * hours,
    20 * hours,
    24 * hours,
  ],
  /** The fraction by which a wait varies at random, so that events that failed together do not return together. */
  webhookWaitSpread: 0.2,
  /** A webhook that fails for so long is disabled. */
  webhookDisabledAfterMs: 120 * hours,
  /** Longer than any wait: failures that are further apart are not one series. */
  webhookSeriesGapMs: 30 * hours,
  /** The events of a webhook that wait; its position waits, too, while there are so many. */
  webhookWaitingMax: 10_000,
  /** The interval at which a full webhook looks for room. */
  webhookRoomLookMs: 1 * seconds,
  /** The runs of the queue that are read, and whose long waits are recorded, at a time. */
  queuedPerPage: 250,
  /** The shortest and the longest time between two looks at the queue. */
  queueLookMs: { least: 100, most: 5 * seconds },
  /** How long a test of a webhook waits for its answer: less than the gateway waits for a command. */
  webhookTestMs: 4 * seconds,
  /** The time within which a receiver must have answered, and the part of its answer that is read. */
  webhookAnswerMs: 15 * seconds,
  webhookAnswerBytesMax: 4 * 1024,
  /** The requests of one webhook at a time. */
  webhookAtOnce: 4,
  /** The time for which the delivery log keeps what has ended. */
  deliveriesKeptMs: 168 * hours,
  deliveriesPurgeMs: 1 * hours,
  /** The deliveries that one statement deletes: some hundred milliseconds of work. */
  deliveriesPerPurge: 5_000,
  deliveriesPageMax: 200,
  /** The characters of an answer and of a sent body that the delivery log keeps. */
  answerKeptCharacters: 4 * 1024,
  requestKeptCharacters: 8 * 1024,
  /** The headers of a webhook beside those of its format, and the characters of one. */
  webhookHeadersMax: 32,
  webhookHeaderCharactersMax: 4 * 1024,
  webhookUrlCharactersMax: 4 * 1024,
  webhookSecretCharactersMax: 256,
  /** For how long an old secret may sign beside the new one. */
  oldSecretMsMax: 720 * hours,
} as const;
