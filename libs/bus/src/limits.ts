/** The limits of the bus, each with its reason. */
const mebibyte = 1024 * 1024;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const busLimits = {
  /** How long opening a bus waits for the first connection before it continues without one. */
  firstConnectMs: 1_500,
  /** One attempt to connect: a host that swallows packets must not hold up the next. */
  connectTimeoutMs: 2_000,
  /**
   * The first wait between attempts, at most: a killed server is back within a second. Each further one is twice as
   * long …
   */
  dialWaitFirstMs: 250,
  /** … up to this. Clients of which there are many set a longer one. */
  dialWaitLastMs: 2_000,
  /** With two unanswered pings allowed, a link that is half open is noticed within 15 s. */
  pingIntervalMs: 5_000,
  pingsUnansweredMax: 2,
  /** How long closing waits until the server has what was published last. */
  closeFlushMs: 1_000,
  /** How long closing waits for handlers that are at work. */
  drainMs: 5_000,

  /** Commands that one process works on at once; group commit gains nothing beyond, and memory stays bounded. */
  commandsInFlightMax: 512,
  /** The wait that a caller is asked for when that many are in flight, or when a handler could not answer. */
  retryAfterMs: 500,

  /** Events on the way to the server without a confirmation. */
  eventsInFlightMax: 512,
  /** The same in bytes: 512 events of the largest size would be 128 MiB in a socket's buffer. */
  eventBytesInFlightMax: 8 * mebibyte,
  /** One of this many events asks for a confirmation, which confirms all before it. */
  eventsPerConfirmation: 128,
  eventBytesPerConfirmation: mebibyte,
  /**
   * Epochs of EVENTS whose positions a listener distinguishes: a log has one at a time, and few logs share an account
   * by mistake.
   */
  epochsRemembered: 8,
  /** No confirmation for this long: the outcome is unknown and the relay starts again from what is stored. */
  confirmationMs: 5_000,
  /** Answers of the server about streams. */
  streamApiMs: 3_000,
  /** A live stream that could not be set up is tried again with a publish after this long, not with every one. */
  liveStreamRetryMs: 5_000,

  /** How far back integrators can start: a week, or until the space is used. */
  eventsAgeMs: 7 * 24 * hourMs,
  eventsBytes: 1024 * mebibyte,
  /** Longer than any retry of the relay; ids of this long are held in the server's memory. */
  eventsDuplicateWindowMs: 30_000,
  /** Live copies: the service that stores them has older ones. */
  liveAgeMs: 10 * minuteMs,
  liveBytes: 128 * mebibyte,
  /** Live copies are not de-duplicated; the server's smallest window keeps no ids for long. */
  liveDuplicateWindowMs: 100,

  /** Replies that a service may send to one request, and for how long after it. */
  repliesPerRequest: 1,
  replyPermissionMs: 2 * minuteMs,
  /** The server's own limit for one message: a log batch of 512 KiB, encoded, fits. */
  messageBytesMax: mebibyte,

  /** How long a started server has until it accepts connections; recovering a large store takes seconds. */
  serverStartMs: 20_000,
  /** Fetching the server's package or release over a slow line. */
  downloadMs: 2 * minuteMs,
} as const;
