export const gatewayLimits = {
  /** The context's 96 MiB in base64, and the configuration beside it. */
  createBodyBytesMax: 132 * 1024 * 1024,
  /** The piece of a packed context that is checked, hashed or written in one turn of the event loop. */
  contextPieceBytes: 64 * 1024,
  /** The body of a request over gRPC: names of trials and metrics. */
  grpcMessageBytesMax: 256 * 1024,
  /** Every other request: a manifest of some ten thousand files fits. */
  bodyBytesMax: 8 * 1024 * 1024,
  /** The body of a sign-in, whose caller is not known before the body is read. */
  signInBodyBytesMax: 4 * 1024,
  /** A body of less is not counted: a command, a manifest, a small context. */
  largeBodyBytes: 1024 * 1024,
  /**
   * Larger bodies that are held at once, together: two of the largest; each takes some four times its size while it is
   * read.
   */
  largeBodiesBytesMax: 264 * 1024 * 1024,
  /**
   * A body's levels of nesting; our messages have some eight, and what nests thousands deep cannot be written as JSON
   * again.
   */
  bodyDepthMax: 64,
  /** Connections of the read model; a verification holds one for its whole run. */
  poolConnections: 10,
  /** How often answers older than a day are forgotten. */
  sweepMs: 3_600_000,
  /** How often the log is read for experiments that were deleted for good, besides each time that one passes by. */
  purgePauseMs: 60_000,
  /** A create waits so long for a decision whether code with the same digest goes; that takes some milliseconds. */
  contentWaitMs: 2_000,
  contentLookMs: 50,
  /**
   * Each attempt meets another deletion of the same content, of which there is one for each experiment that is deleted.
   */
  contentAttemptsMax: 5,
  /** Experiments in one request, and in one command of it, which is one commit: their writes fit. */
  actedOnMax: 10_000,
  actedOnTogether: 250,
  pageSizeDefault: 100,
  pageSizeMax: 1_000,
  /** The cost limit of one query of a list; beyond it the costliest condition is named. */
  listQueryMs: 3_000,
  /**
   * Queries of lists that run at once: the other connections stay for commands, single documents and the read model.
   */
  listQueriesAtOnce: 4,
  /** Lists that wait for their turn; beyond it the gateway answers 503. */
  listsWaitingMax: 32,
  /** Rows of a list that are counted; of more there is an estimate. */
  countedRowsMax: 10_000,
  /** A service answers a command within this, or the caller is asked to retry. */
  commandDeadlineMs: 5_000,
  /** A service that starts, or hands over, answers a verification within this; otherwise it counts as away. */
  verifyPatienceMs: 10_000,
  verifyRetryMs: 500,
  /** The log's time may be ahead of the database's clock by what a failover between synchronised hosts makes of it. */
  logAheadMs: 1_000,
  /** A retried command finds its first answer for a day. */
  idempotencyHours: 24,
  /** An attempt that is under way keeps others from the key for this long: longer than any command takes. */
  idempotencyHeldMs: 30_000,
  /** A signals call is held open for at most this long. */
  signalsWaitMsMax: 30_000,
  /** How often it is looked whether the read model keeps up. */
  lagCheckMs: 500,
  /**
   * A read model that is behind the log for longer answers no reads: they would return old data as if it were current.
   */
  readLagMsMax: 15_000,
  /** A start waits so long for the read model; /readyz reports one that takes longer. */
  startWaitMs: 2_000,
  /** The trials in a query for series: a hundred curves of several metrics, each by the pixel. */
  seriesTrialsMax: 200,
  seriesNamesMax: 50,
  seriesBucketsDefault: 1_000,
  /** The metrics service's own limit of one answer, too. */
  seriesBucketsMax: 4_000,
  /** Questions of one query that are under way at once: others ask meanwhile. */
  seriesAtOnce: 4,
  /** Newest trials that are looked through for waiting runs while the scheduler is away, and the runs shown. */
  explainedTrialsMax: 1_000,
  explainedRunsMax: 64,
  /** Log lines in one page from the logs service. */
  logPageLines: 1_000,
  /** Events read at once for a list of events: an event may have a quarter of a megabyte. */
  listedEventsRead: 32,
  /**
   * Events that one answer looks at, and about how many characters of theirs: a rare type, and large ones, take several
   * pages.
   */
  listedEventsLookedAt: 10_000,
  listedEventsCharacters: 4 * 1024 * 1024,
  /**
   * Positions that are looked at once for the events of one experiment: some ten milliseconds of the database's time.
   */
  watchedPositions: 4_000,
  /** How often a watcher of a search looks when nothing announces any event. */
  searchPollMs: 1_000,
  /** The topics of one Watch. */
  watchTopicsMax: 64,
  /** Streams of Watch that a caller has open at one gateway, and that all callers have: their frames take memory. */
  watchStreamsOfOneMax: 64,
  watchStreamsMax: 512,
  /**
   * Distinct topics of a caller's streams at one gateway, and of all callers: each is asked for at each page of events.
   */
  watchTopicsOfOneMax: 512,
  watchTopicsOfAllMax: 8_192,
  /**
   * Questions of watchers to the read model that run at once, and those of one caller; lists have connections of their
   * own.
   */
  watchQueries: { max: 3, ofOneMax: 2 },
  /** A page of events, and what it changes of topics, serves others who ask for so long. */
  watchPageMs: 1_000,
  /** An answer of more characters is not kept for others: several thousand may be. */
  watchSharedCharacters: 32 * 1024,
  /** The same to the stores of points and lines. */
  watchLooks: { max: 8, ofOneMax: 4 },
  /** Events read at once for watchers. */
  watchPageEvents: 500,
  /** A watcher that resumes further back reads its lists again. */
  watchResumedMax: 10_000,
  /** Frames that wait for a watcher, in characters; one that reads more slowly is cut off. */
  watchQueuedCharactersMax: 4 * 1024 * 1024,
  /**
   * Trials that one pause of their experiment changes, or projects of a workspace, frame by frame; with more the topic
   * is reset.
   */
  watchShownElseMax: 1_000,
  /** How often watchers get a bookmark. */
  watchBookmarkMs: 1_000,
  watchLookMs: 1_000,
  /** Points or lines in one frame: what a page of them costs, others wait for. */
  seriesPage: 500,
  /**
   * Intervals between polls for watched points and lines that nothing announces: the first, and the one while none
   * arrive.
   */
  seriesPollMs: 1_000,
  seriesQuietMs: 8_000,
  watchRestMs: 50,
  watchRetryMs: 1_000,
  /** The new events of a search for a client that did not know of it. */
  newEventsNamed: 20,
  /** How often a follower looks for lines when nothing announces any. */
  logPollMs: 1_000,
  /** How often a follower looks for points when nothing announces any. */
  pointPollMs: 1_000,
  /** Between two looks of one follower, so that reports that come one by one are read together: far below 200 ms. */
  pointLookMs: 20,
  /** A follower that gets no points gets its position at least this often, so that it does not grow too old. */
  positionToldMs: 60_000,
  /** A server-sent comment keeps proxies from closing a quiet stream. */
  sseKeepAliveMs: 15_000,
  /** A client of a stream that reads nothing for so long is cut off: it continues after its last message. */
  sseSlowMs: 30_000,
  /** A stream that fails within this answers with a problem instead. */
  sseFirstMs: 250,
  /** Built pages, held in memory: ours are some dozens of files of two megabytes. */
  webFilesMax: 1_000,
  webBytesMax: 64 * 1024 * 1024,
  /** How often it is looked whether the callers of open streams are admitted still. */
  openCallsMs: 30_000,
  /** A session that no request uses for so long ends. */
  sessionIdleHours: 12,
  /** A session is marked as used at most this often: a request more writes nothing. */
  sessionUsedSeconds: 60,
  /** Open sessions of one token; the one that was unused the longest goes first. */
  sessionsOfTokenMax: 1_000,
  /** A code that opens a session is good for so long. */
  sessionCodeMinutes: 10,
  /** Wrong codes of one address within a minute, and the addresses that are remembered. */
  wrongCodesMax: 20,
  wrongCodeAddressesMax: 10_000,
  /** A token's label identifies it in a list; it is part of an event. */
  tokenLabelCharactersMax: 255,
  /** Said with every 503. */
  retryAfterSeconds: 1,
  /** Searches whose record is kept between analyses. */
  searchRecordsKept: 32,
  /** Pages of pictures that are kept to be brought up to date, and a search's trials in one of them. */
  picturesKept: 8,
  picturedTrialsMax: 1_000,
  /** Events of a search that are read at once. */
  searchEventsPage: 500,
  /** The characters of a branch, a remote, a folder, or the name of a client. */
  sourceTextCharactersMax: 1_000,
  /** A longer diff is in the model code itself. */
  sourceDiffCharactersMax: 1024 * 1024,
  /** The packages of a run's environment: some have hundreds. */
  packagesMax: 2_000,
  packageTextCharactersMax: 200,
  /** All overrides of a submission together: as long as the configuration that they change. */
  overridesBytesMax: 96 * 1024,
  /** Comparisons of model code under way: each unpacks two archives. */
  diffsAtOnce: 2,
  /** Comparisons that wait for their turn; beyond it the gateway answers 503. */
  diffsWaitingMax: 8,
  /** Files that a comparison names, and those that it compares as text, each of so many bytes at most. */
  diffFilesMax: 1_000,
  diffTextFilesMax: 100,
  diffFileBytesMax: 64 * 1024,
  /** Changed lines of one file for which the shortest edit script is looked for: some milliseconds. */
  diffEditsMax: 300,
  /** Files of stored code whose lists are kept, all lists together: two of the longest. */
  codeFilesKept: 200_000,
  /** The bytes of one file of stored code that an answer holds as text. */
  codeFileBytesMax: 1024 * 1024,
  /** The best versions of a model, in one answer. */
  bestVersionsMax: 100,
  /** Conditions of one query for versions: each is looked up for each version that is considered. */
  conditionsMax: 16,
  /** Existing names, listed in the error for a name that does not exist. */
  namesTold: 20,
  /** The newest versions, whose names those are. */
  namesOfVersions: 100,
  /** Read at once from a file that is downloaded. */
  archiveChunkBytes: 256 * 1024,
  /** TensorBoard files and folders of one trial: beyond it they are no event files. */
  tensorboardFilesMax: 100_000,
  /** Matched log policies that a trial's description shows; there is one for each policy, node and run. */
  logPoliciesShown: 100,
  /** The lines of a trial in ERROR that `describe` shows. */
  lastLogLines: 20,
} as const;
