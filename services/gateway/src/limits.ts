export const gatewayLimits = {
  /** The largest body of a create: the context's 96 MiB in base64, and the configuration. */
  createBodyBytesMax: 132 * 1024 * 1024,
  /** The size of the pieces in which a context is checked, hashed or written without blocking the event loop. */
  contextPieceBytes: 64 * 1024,
  /** The largest message over gRPC: it has only names of trials and metrics. */
  grpcMessageBytesMax: 256 * 1024,
  /** The largest body of other requests: a manifest of some ten thousand files. */
  bodyBytesMax: 8 * 1024 * 1024,
  /** The body of a sign-in, whose caller is not known before the body is read. */
  signInBodyBytesMax: 4 * 1024,
  /** Smaller bodies, such as commands and manifests, do not count against the limit below. */
  largeBodyBytes: 1024 * 1024,
  /**
   * The total size of larger bodies in memory: two of the largest. Parsing a body takes about four times its size. One
   * caller may use all of it while no other caller needs it.
   */
  largeBodiesBytesMax: 264 * 1024 * 1024,
  /**
   * The deepest nesting of a body. The API's messages have about eight levels, and JSON.stringify fails at some
   * thousands.
   */
  bodyDepthMax: 64,
  /**
   * The most commas and brackets of a body, also in its texts, which bound its values: a value takes up to 200 bytes of
   * memory for its three bytes of JSON. The largest manifests have some hundred thousand.
   */
  bodySeparatorsMax: 2_000_000,
  /** The connections to the read model's database; a verification uses one for its whole run. */
  poolConnections: 10,
  /** The interval at which expired idempotency keys are deleted. */
  sweepMs: 3_600_000,
  /**
   * The interval at which the log is searched for experiments that were deleted for good, beside the events themselves.
   */
  purgePauseMs: 60_000,
  /**
   * The longest wait of a create while content with the same digest is being deleted, which takes some milliseconds.
   */
  contentWaitMs: 2_000,
  contentLookMs: 50,
  /** The attempts of a create. Each one may meet another deletion of the same content, one per deleted experiment. */
  contentAttemptsMax: 5,
  /** The most experiments of one request, and of each of its commits. */
  actedOnMax: 10_000,
  actedOnTogether: 250,
  pageSizeDefault: 100,
  pageSizeMax: 1_000,
  /** The time limit of one query of a list; beyond it the error names the slowest condition. */
  listQueryMs: 3_000,
  /** The list queries that run at once; the other connections are for commands, single documents and the read model. */
  listQueries: { max: 4, ofOneMax: 3, waitingOfOneMax: 32 },
  /** The most rows that are counted exactly; beyond it the total is an estimate. */
  countedRowsMax: 10_000,
  /** The deadline of a command to a service; beyond it the caller is asked to retry. */
  commandDeadlineMs: 5_000,
  /**
   * The longest wait for a service's verification, for example while it starts. Beyond it the service counts as
   * unavailable.
   */
  verifyPatienceMs: 10_000,
  verifyRetryMs: 500,
  /**
   * The most by which the log's time may be ahead of the database's clock, as after a failover between synchronised
   * hosts.
   */
  logAheadMs: 1_000,
  /** The time for which an idempotency key has its first answer. */
  idempotencyHours: 24,
  /** The time for which an attempt blocks its idempotency key: longer than any command takes. */
  idempotencyHeldMs: 30_000,
  /** A signals call is held open for at most this long. */
  signalsWaitMsMax: 30_000,
  /** The interval at which the lag of the read model is checked. */
  lagCheckMs: 500,
  /** The lag beyond which the read model answers no reads, since they would return stale data. */
  readLagMsMax: 15_000,
  /** The longest wait of the start for the read model; /readyz then reports that it is behind. */
  startWaitMs: 2_000,
  /** The most trials in a query for series: a hundred curves of several metrics, with a bucket per pixel. */
  seriesTrialsMax: 200,
  seriesNamesMax: 50,
  seriesBucketsDefault: 1_000,
  /** The most buckets, which is also the metrics service's limit for one answer. */
  seriesBucketsMax: 4_000,
  /** The parallel queries to the metrics service for one request; the limit leaves room for other requests. */
  seriesAtOnce: 4,
  /**
   * The newest trials that are searched for waiting runs while the scheduler is unavailable, and the most runs shown.
   */
  explainedTrialsMax: 1_000,
  explainedRunsMax: 64,
  /** Log lines in one page from the logs service. */
  logPageLines: 1_000,
  /** The events that a list reads at once: an event may have 256 KiB. */
  listedEventsRead: 32,
  /**
   * The events that one page scans, and about how many characters it has; rare types and large events take several
   * pages.
   */
  listedEventsLookedAt: 10_000,
  listedEventsCharacters: 4 * 1024 * 1024,
  /** The positions that are scanned at once for the events of one experiment, in about ten milliseconds. */
  watchedPositions: 4_000,
  /** While no announcement arrives, the watcher of a search reads it again at this interval. */
  searchPollMs: 1_000,
  /** The most topics of one Watch. */
  watchTopicsMax: 64,
  /** The most open Watch streams of one caller at one gateway, and of all callers: their frames use memory. */
  watchStreamsOfOneMax: 64,
  watchStreamsMax: 512,
  /**
   * The most distinct topics of one caller at one gateway, and of all callers: each is queried for each page of events.
   */
  watchTopicsOfOneMax: 512,
  watchTopicsOfAllMax: 8_192,
  /**
   * The watchers' queries to the read model that run at once, and those of one caller. Lists have other connections.
   */
  watchQueries: { max: 3, ofOneMax: 2 },
  /** The time for which a page of events, and its changes to topics, are shared with other watchers. */
  watchPageMs: 1_000,
  /** The size up to which an answer is shared with other watchers, since several thousand may be kept. */
  watchSharedCharacters: 32 * 1024,
  /** The watchers' queries to the stores of points and lines that run at once, and those of one caller. */
  watchLooks: { max: 8, ofOneMax: 4 },
  /** The events that are read at once for watchers. */
  watchPageEvents: 500,
  /** The most events after which a watcher can resume; one that is further behind reads its lists again. */
  watchResumedMax: 10_000,
  /** The most characters of frames that wait for one watcher; a slower one is disconnected. */
  watchQueuedCharactersMax: 4 * 1024 * 1024,
  /**
   * The most trials of a paused experiment, or projects of an archived workspace, that get a frame each; with more the
   * topic is reset.
   */
  watchShownElseMax: 1_000,
  /** The interval at which watchers get a bookmark. */
  watchBookmarkMs: 1_000,
  watchLookMs: 1_000,
  /** The points or lines in one frame, which is the size of one query. */
  seriesPage: 500,
  /** The intervals of queries for points and lines without announcements: at first, and while none arrive. */
  seriesPollMs: 1_000,
  seriesQuietMs: 8_000,
  watchRestMs: 50,
  watchRetryMs: 1_000,
  /** The most events that a search's client gets with the refusal of operations that depend on an older version. */
  newEventsNamed: 20,
  /** The interval at which a follower queries lines without announcements. */
  logPollMs: 1_000,
  /** The interval at which a follower queries points without announcements. */
  pointPollMs: 1_000,
  /**
   * The least pause between two queries of one follower, so that single reports are read together. It is far below 200
   * ms.
   */
  pointLookMs: 20,
  /** The interval at which a follower without points gets its position, so that it stays among the kept ones. */
  positionToldMs: 60_000,
  /** The interval of comments in a quiet stream, which keep proxies from closing it. */
  sseKeepAliveMs: 15_000,
  /** The time after which a client with unread messages is disconnected; it continues after its last message. */
  sseSlowMs: 30_000,
  /** The time within which an error of a stream is answered as a problem with its own status. */
  sseFirstMs: 250,
  /** The most files of the Web UI, which are held in memory: it has some dozens of files and two megabytes. */
  webFilesMax: 1_000,
  webBytesMax: 64 * 1024 * 1024,
  /** The interval at which the callers of open streams are checked again. */
  openCallsMs: 30_000,
  /** The time without requests after which a session ends. */
  sessionIdleHours: 12,
  /** The least interval between two updates of a session's last use. */
  sessionUsedSeconds: 60,
  /** The most open sessions of one token; beyond it the one with the oldest use ends. */
  sessionsOfTokenMax: 1_000,
  /** The lifetime of a code that opens a session. */
  sessionCodeMinutes: 10,
  /** The most wrong codes of one address in a minute, and the most addresses that are remembered. */
  wrongCodesMax: 20,
  wrongCodeAddressesMax: 10_000,
  /** The longest label of a token, which identifies it in a list and is part of an event. */
  tokenLabelCharactersMax: 255,
  /** The searches whose record is kept between analyses. */
  searchRecordsKept: 32,
  /** The pages of pictures that are kept for later versions, and the trials of one page. */
  picturesKept: 8,
  picturedTrialsMax: 1_000,
  /** The events of a search that are read at once. */
  searchEventsPage: 500,
  /** The longest branch, remote or folder of a repository, and the longest name of a client. */
  sourceTextCharactersMax: 1_000,
  /** The longest diff of a repository; the model code has all changes anyway. */
  sourceDiffCharactersMax: 1024 * 1024,
  /** The most packages of a run's environment: some have hundreds. */
  packagesMax: 2_000,
  packageTextCharactersMax: 200,
  /** The most bytes of all overrides of a submission, which is also the limit of the configuration. */
  overridesBytesMax: 96 * 1024,
  /** The comparisons of model code that run at once: each unpacks two archives. */
  diffs: { max: 2, ofOneMax: 1, waitingOfOneMax: 8 },
  /**
   * The most files that a comparison of code names, the most that it compares as text, and the largest of the latter.
   */
  diffFilesMax: 1_000,
  diffTextFilesMax: 100,
  diffFileBytesMax: 64 * 1024,
  /** The most changed lines for which the shortest edit script is computed, which takes some milliseconds. */
  diffEditsMax: 300,
  /**
   * The readers of stored code at once: each may unpack 2 GiB, which pass through this process. The callers take turns,
   * and further requests of one caller are answered with 503.
   */
  codeReads: { max: 1, ofOneMax: 1, waitingOfOneMax: 32 },
  /** The files in the kept lists of stored code, in total: two of the longest lists. */
  codeFilesKept: 200_000,
  /** The bytes of one file of stored code that an answer has as text; a longer file is cut off. */
  codeFileBytesMax: 1024 * 1024,
  /** The most versions in an answer about the best versions of a model. */
  bestVersionsMax: 100,
  /** The most conditions of a query for versions: each is checked for each version that is read. */
  conditionsMax: 16,
  /** The existing names that the error for an unknown name lists. */
  namesTold: 20,
  /** The newest versions whose names the error for an unknown name lists. */
  namesOfVersions: 100,
  /** The bytes that are read at once from a downloaded file. */
  archiveChunkBytes: 256 * 1024,
  /** The most TensorBoard files and folders of one trial; more cannot be event files. */
  tensorboardFilesMax: 100_000,
  /** The most matched log policies that a trial's description shows; there may be one per policy, node and run. */
  logPoliciesShown: 100,
  /** The lines of a trial in ERROR that `describe` shows. */
  lastLogLines: 20,
} as const;
