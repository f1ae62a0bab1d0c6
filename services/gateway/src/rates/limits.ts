export const rateLimits = {
  /** The most buckets in a gateway: some ten megabytes. Beyond it the least recently used one counts as full again. */
  bucketsMax: 50_000,
  /** The most bytes that are kept under one key: an answer of a service is at most as large. */
  keptOneBytesMax: 1024 * 1024,
  /** The bytes that one gateway keeps. */
  keptBytesMax: 32 * 1024 * 1024,
  /** The bits of an IPv6 address that count: a site usually has a /64, so one client may use all of its addresses. */
  siteBits: 64,
  /** The longest time that a call waits for Redis: more than a busy one takes, and less than a person notices. */
  redisAnswerMs: 50,
  /** The interval at which one call is also sent to a Redis that did not answer, to see whether it answers again. */
  redisRetryMs: 1_000,
  /** The time after which a connection to Redis that answers nothing is closed, and opened again. */
  redisSilentMs: 5_000,
} as const;
