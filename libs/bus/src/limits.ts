/** The limits of the bus. */
const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const busLimits = {
  /** The wait for the first connection when a bus is opened; after it, opening continues without a connection. */
  firstConnectMs: 1_500,
  /** The timeout of one connection attempt: a host that drops packets must not delay the next attempt. */
  connectTimeoutMs: 2_000,
  /**
   * The longest first wait between connection attempts, so that a killed server is back within a second. Each further
   * wait is twice as long, up to `dialWaitLastMs`.
   */
  dialWaitFirstMs: 250,
  /** The longest wait between connection attempts. Large groups of clients set a longer one. */
  dialWaitLastMs: 2_000,
  /** The interval between pings: two may stay unanswered, so a half-open connection is detected within 15 s. */
  pingIntervalMs: 5_000,
  pingsUnansweredMax: 2,
  /** How long closing waits until the server has received the last messages. */
  closeFlushMs: 1_000,
  /** How long closing waits for running handlers. */
  drainMs: 5_000,

  /**
   * The most commands that one process handles concurrently: more would not improve group commit, and this bounds the
   * memory.
   */
  commandsInFlightMax: 512,
  /** The retry delay for callers when `commandsInFlightMax` is reached or a handler was unavailable. */
  retryAfterMs: 500,

  /** The most events sent to the server without a confirmation. */
  eventsInFlightMax: 512,
  /**
   * The most bytes sent without a confirmation: 512 events of the largest size would fill a socket's buffer with 128
   * MiB.
   */
  eventBytesInFlightMax: 8 * mebibyte,
  /** One in so many events requests a confirmation, which also confirms all earlier events. */
  eventsPerConfirmation: 128,
  eventBytesPerConfirmation: mebibyte,
  /**
   * The epochs of EVENTS whose positions a listener remembers. A log has one epoch at a time, and several logs share a
   * NATS account only by mistake.
   */
  epochsRemembered: 8,
  /**
   * The timeout of a confirmation: the outcome is then unknown, and the relay continues from the stream's last event.
   */
  confirmationMs: 5_000,
  /** The timeout of stream management requests. */
  streamApiMs: 3_000,
  /** The delay before a failed setup of a live stream is retried, so that not every publish retries it. */
  liveStreamRetryMs: 5_000,

  /**
   * The retention of EVENTS, which limits how far back integrators can start: a week, or less when the space is full.
   */
  eventsAgeMs: 7 * 24 * hourMs,
  eventsBytes: 1024 * mebibyte,
  /** Longer than any retry of the relay; the server keeps message ids of this period in memory. */
  eventsDuplicateWindowMs: 30_000,
  /** The retention of live copies; the service that stores the data has the older ones. */
  liveAgeMs: 10 * minuteMs,
  liveBytes: 128 * mebibyte,
  /** The server's smallest window: live copies need no de-duplication, so few ids are kept. */
  liveDuplicateWindowMs: 100,

  /** The number of replies that a service may send to one request, and the time it has for them. */
  repliesPerRequest: 1,
  replyPermissionMs: 2 * minuteMs,
  /** The server's limit for one message; an encoded log batch of 512 KiB fits. */
  messageBytesMax: mebibyte,

  /** The time that a starting server has to accept connections; recovering a large store takes seconds. */
  serverStartMs: 20_000,
  /** The timeout for downloading the server's package or release, even over a slow line. */
  downloadMs: 2 * minuteMs,
} as const;
