export const metricsLimits = {
  /** Rows of one statement that deletes what a deleted experiment has reported. */
  rowsPerPurge: 1_000,
  /** How long after the deletion: a report that is being stored then is stored by that time. */
  purgeAfterMs: 60_000,
  /** How often deleted experiments are looked for. */
  purgePauseMs: 60_000,
  /** Reports of one request: what the SDK sends at once after an outage. */
  reportsPerRequestMax: 1_000,
  requestBytesMax: 4 * 1024 * 1024,
  /** A body of less is not counted; what a training process sends without an outage is less. */
  largeBodyBytes: 64 * 1024,
  /** The sum of larger bodies held at once; parsed, they take some hundreds of MiB. */
  largeBodiesBytesMax: 64 * 1024 * 1024,
  /**
   * Calls over gRPC that hold a request at once; streams, one for each node that reports; batches of one that wait for
   * their commits.
   */
  grpcCallsMax: 64,
  grpcStreamsMax: 2_000,
  streamBatchesMax: 4,
  /** The values of one report as JSON. A validation's go into an event of at most 256 KiB, with names around them. */
  metricsBytesMax: 192 * 1024,
  /**
   * Names of a validation's values that are no numbers, in its event: beside a metric there are few, and the names are
   * short.
   */
  nonNumericNamesMax: 16,
  /** The quantities of one device: more than any driver reports. */
  systemValuesMax: 16,
  /** Nothing that a machine measures comes near it, and sums over years stay finite. */
  systemValueMax: 1e18,
  /** The limits of the SDK. A key is part of an index entry, a group of a subject; both have room for it. */
  nameCharactersMax: 255,
  /** The size of a metric's name, which is also part of an index entry. */
  metricNameBytesMax: 1_024,
  /**
   * Names of one report: each new one is a row. What a script logs has under a hundred, and one value a layer some
   * thousands.
   */
  namesPerReportMax: 4_096,
  /** How long a request waits until this replica knows of the run's grant, before 503. */
  grantWaitMs: 2_000,
  retryAfterSeconds: 1,
  /** Rows of one insert: a few milliseconds of the database's time. */
  rowsPerWriteMax: 5_000,
  /** Rows waiting in one process: beyond it 503, the senders keep their spools. */
  rowsWaitingMax: 50_000,
  /** The same in bytes, for reports with large values: one full request is one insert, and sixteen of them wait. */
  bytesPerWriteMax: 4 * 1024 * 1024,
  bytesWaitingMax: 64 * 1024 * 1024,
  /**
   * The runs whose stored keys this process remembers: a run takes half a KiB each, 64 KiB for one whose keys have many
   * gaps.
   */
  runsKnownBytesMax: 16 * 1024 * 1024,
  /**
   * Trials whose metric names are remembered, and the names of each group: beyond it they are recorded again with each
   * report.
   */
  trialsKnownMax: 2_000,
  namesKnownPerGroupMax: 20_000,
  /** Attempts at a write while other replicas write the same runs. */
  writeAttemptsMax: 20,
  /**
   * A tail of so many reports is compacted at once, half a block, so it is merged with no other; so many bytes count as
   * one report more.
   */
  tailWeightMax: 2_048,
  tailBytesPerReport: 4 * 1024,
  /** A smaller tail is compacted after this long. */
  tailAgeMs: 120_000,
  /**
   * Reports of one block: a chart of a million points reads some 400 blocks of half as many or more, a page of reports
   * one or two.
   */
  blockReportsMax: 4_096,
  /**
   * The same in bytes of JSON, for reports with very many or with large values: as columns, equal values take no room.
   */
  blockBytesMax: 1024 * 1024,
  /** Tails of one step of compaction, in bytes of JSON: less than 100 ms of this process's time. */
  compactionBytesMax: 4 * 1024 * 1024,
  /** The same as they are stored: what a step reads. */
  compactionStoredBytesMax: 1024 * 1024,
  compactionTailsMax: 2_000,
  /** Runs looked at in one step, and the pause when nothing is due. */
  compactionRunsMax: 20,
  compactionPauseMs: 1_000,
  /** A run that cannot be compacted is looked at again after this long. */
  compactionPostponedMs: 600_000,
  /** Rows of earlier versions that one step moves, and the pause when there are none. */
  oldRowsPerStep: 500,
  oldRowsPauseMs: 5_000,
  /** Before those that could not be moved are tried again. */
  oldRowsLeftPauseMs: 600_000,
  /** Rows that one statement of retention removes, and blocks, which go with their columns. */
  rowsPerRemovalMax: 5_000,
  blocksPerRemovalMax: 50,
  /** Between two looks at what is to be removed: days are what is counted. */
  retentionLookMs: 6 * 3_600_000,
  /** Points that one answer is made of, for each trial: some 60 bytes each while they are put in order. */
  seriesPointsMax: 5_000_000,
  /** Blocks read at once: some MiB of one metric. */
  blocksAtOnce: 128,
  /** Buckets of one answer, all series together: 190 bytes each at worst, in a message of 1 MiB. */
  seriesBucketsMax: 4_000,
  seriesTrialsMax: 1_000,
  bucketsDefault: 1_000,
  /** Names of at most 1 KiB. */
  namesPerPageMax: 500,
  /** Points of one answer, and their bytes: an answer is one message on the bus, of 1 MiB at most. */
  pointsPerPageMax: 1_000,
  /** System points of one answer: 16 values of 100 bytes each fill three quarters of a message. */
  systemPointsPerPageMax: 500,
  pageBytesMax: 512 * 1024,
  /** Tails that one look at a stream reads, and their bytes, unless the first alone has more. */
  streamTailsMax: 500,
  streamBytesMax: 1024 * 1024,
  /** Compacted reports stay in their stream for this long: a subscriber that was away for longer lists them again. */
  streamKeptMs: 3_600_000,
  /** Tails that one step removes from the streams, and the pause when there are none. */
  streamSweptTails: 1_000,
  streamSweepPauseMs: 10_000,
  /** A live copy larger than this is left out: dashboards query what they do not hear. */
  liveCopyBytesMax: 512 * 1024,
} as const;
