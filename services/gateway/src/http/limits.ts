/** The limits of requests, answers and sessions. */
export const httpLimits = {
  /** The largest body of a create: the context's 96 MiB in base64, and the configuration. */
  createBodyBytesMax: 132 * 1024 * 1024,
  /** The largest body of other requests, and message over gRPC: a manifest of some ten thousand files. */
  bodyBytesMax: 8 * 1024 * 1024,
  /** The longest name in a path: as long as the head of a request may be, so the name's own limit decides. */
  pathPartCharactersMax: 16 * 1024,
  /** The body of a sign-in, whose caller is not known before the body is read. */
  signInBodyBytesMax: 4 * 1024,
  /** Smaller bodies, such as commands and manifests, are parsed in the event loop; larger ones in a thread. */
  largeBodyBytes: 1024 * 1024,
  /** Smaller messages over gRPC are decoded in the event loop: an empty value takes two bytes of a message. */
  largeMessageBytes: 128 * 1024,
  /**
   * The total size of larger bodies in memory, two of the largest, and of all others. Parsing a body takes about four
   * times its size. One caller may use all of it while no other caller needs it.
   */
  smallBodiesBytesMax: 64 * 1024 * 1024,
  largeBodiesBytesMax: 264 * 1024 * 1024,
  /**
   * The deepest nesting of a body. The API's messages have about eight levels, and JSON.stringify fails at some
   * thousands.
   */
  bodyDepthMax: 64,
  /**
   * The most commas and brackets of a body, also in its texts, which bound its values: a value takes up to 200 bytes of
   * memory for its three bytes of JSON, and about a microsecond of the event loop. A manifest that fits into a body has
   * fewer.
   */
  bodySeparatorsMax: 500_000,
  /** The time for which an idempotency key has its first answer. */
  idempotencyHours: 24,
  /** The expired keys, sessions or codes that one statement deletes: some hundredths of a second. */
  expiredRowsAtOnce: 5_000,
  /** The interval of comments in a quiet stream, which keep proxies from closing it. */
  sseKeepAliveMs: 15_000,
  /** The time after which a client with unread messages is disconnected; it continues after its last message. */
  sseSlowMs: 30_000,
  /** The most files of the Web UI, which are held in memory: it has some dozens of files and two megabytes. */
  webFilesMax: 1_000,
  webBytesMax: 64 * 1024 * 1024,
  /** The interval at which the tokens of open streams are checked again, and their sessions count as used. */
  openCallsMs: 30_000,
  /** The interval at which open streams are checked for sessions that have ended, at any replica. */
  openSessionsMs: 1_000,
  /**
   * The time after which the rights of open streams and downloads are checked once more when they have changed, since
   * the read model may have had an older state, and the interval of checks while nothing changes.
   */
  openChecksAgainMs: 2_000,
  openChecksIdleMs: 30_000,
  /**
   * The time for which a run of a task counts as not ended after the log was read: with the interval of open streams
   * its token is refused within 2 s after its end.
   */
  ownerRunsConfirmedMs: 500,
  /** The most such runs that are remembered; others are read again. */
  ownerRunsMax: 10_000,
  /** The interval at which the last uses of tokens are written. */
  tokenUsesMs: 2_000,
  /** The most tokens whose last uses are in memory; others are written again. */
  tokenUsesMax: 10_000,
  /** The time without requests after which a session ends. */
  sessionIdleHours: 12,
  /** The most open sessions of one token; beyond it the one with the oldest use ends. */
  sessionsOfTokenMax: 1_000,
  /** The lifetime of a code that opens a session. */
  sessionCodeMinutes: 10,
  /** The most wrong codes of one address in a minute, and the most addresses that are remembered. */
  wrongCodesMax: 20,
  /** The timeout of a question to an object store before a download begins. */
  storeAnswerMs: 15_000,
} as const;
