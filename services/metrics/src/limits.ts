export const metricsLimits = {
  /** Rows that one statement deletes of a deleted experiment. */
  rowsPerPurge: 1_000,
  /** Time between the deletion of an experiment and its purge, long enough for reports in progress to be stored. */
  purgeAfterMs: 60_000,
  /** Time between two searches for deleted experiments. */
  purgePauseMs: 60_000,
  /** Reports in one request: the SDK sends as many at once after an outage. */
  reportsPerRequestMax: 1_000,
  requestBytesMax: 4 * 1024 * 1024,
  /** Without an outage, a training process sends less than this. */
  smallBodyBytes: 64 * 1024,
  /**
   * The total size of larger bodies held at once, and of all others, with the messages over gRPC; parsed, they take
   * several hundred MiB. One run may use all of it while no other run needs it.
   */
  smallBodiesBytesMax: 32 * 1024 * 1024,
  largeBodiesBytesMax: 64 * 1024 * 1024,
  /**
   * Concurrent gRPC calls, whose requests arrive or are in memory; concurrent streams, one for each reporting node;
   * batches of one stream that wait for their commits.
   */
  grpcCallsMax: 64,
  grpcCallsOfRunMax: 16,
  grpcStreamsMax: 2_000,
  grpcStreamsOfRunMax: 64,
  streamBatchesMax: 4,
  /**
   * Bytes of one report's values as JSON. A validation's values are part of an event of at most 256 KiB, together with
   * names.
   */
  metricsBytesMax: 192 * 1024,
  /** Names of a validation's non-numeric values that its event lists; there are usually few. */
  nonNumericNamesMax: 16,
  /** Values of one device: more than any driver reports. */
  systemValuesMax: 16,
  /** The largest value of a system metric: no machine measures nearly as much, and sums over years stay finite. */
  systemValueMax: 1e18,
  /**
   * Characters of a key or group, as in the SDK. A key is part of an index entry, a group part of a bus subject; both
   * fit.
   */
  nameCharactersMax: 255,
  /** Bytes of a metric's name, which is part of an index entry. */
  metricNameBytesMax: 1_024,
  /**
   * Names in one report; each new name is a row. Scripts log under a hundred, or some thousands with one value per
   * layer.
   */
  namesPerReportMax: 4_096,
  /** Time that a request waits for this replica to learn of the run's grant; then the answer is 503. */
  grantWaitMs: 2_000,
  /** Rows in one insert: a few milliseconds of the database's time. */
  rowsPerWriteMax: 5_000,
  /** Rows waiting in one process; beyond this number the answer is 503, and senders keep their spools. */
  rowsWaitingMax: 50_000,
  /** Bytes of reports in one insert, and waiting in one process: a full request is one insert, and sixteen may wait. */
  bytesPerWriteMax: 4 * 1024 * 1024,
  bytesWaitingMax: 64 * 1024 * 1024,
  /** Memory for the cached keys of runs: about half a KiB per run, 64 KiB for a run whose keys have many gaps. */
  runsKnownBytesMax: 16 * 1024 * 1024,
  /**
   * Runs whose metric names are cached, and cached names per group; other names are recorded again with each report.
   */
  runsWithKnownNamesMax: 2_000,
  namesKnownPerGroupMax: 20_000,
  /** Attempts at a write while other replicas write the same runs. */
  writeAttemptsMax: 20,
  /**
   * A tail of this weight is compacted at once, half a block, and not merged with others. The weight is the number of
   * reports, plus one for each `tailBytesPerReport`.
   */
  tailWeightMax: 2_048,
  tailBytesPerReport: 4 * 1024,
  /** A lighter tail is compacted after this time. */
  tailAgeMs: 120_000,
  /**
   * Reports in one block: a chart of a million points reads about 400 blocks at least half full, a page of reports one
   * or two.
   */
  blockReportsMax: 4_096,
  /**
   * Bytes of JSON in one block, for reports with many or large values. The JSON size is the limit, since equal values
   * take no room as columns.
   */
  blockBytesMax: 1024 * 1024,
  /** Bytes of JSON in one compaction step: less than 100 ms of this process's time. */
  compactionBytesMax: 4 * 1024 * 1024,
  /** Stored bytes that one compaction step reads. */
  compactionStoredBytesMax: 1024 * 1024,
  compactionTailsMax: 2_000,
  /** Runs that one step compacts, and the pause when no run is due. */
  compactionRunsMax: 20,
  compactionPauseMs: 1_000,
  /** Time until a run that could not be compacted is retried. */
  compactionPostponedMs: 600_000,
  /** Rows that one retention statement removes, and blocks, which are removed with their columns. */
  rowsPerRemovalMax: 5_000,
  blocksPerRemovalMax: 50,
  /** Ended experiments that a retention sweep selects at once. */
  livesPerPage: 1_000,
  /** Time between two retention sweeps; retention is counted in days. */
  retentionLookMs: 6 * 3_600_000,
  /** Points of one trial in one answer: about 60 bytes each while they are sorted. */
  seriesPointsMax: 5_000_000,
  /**
   * Points of all trials in a combined series: two of them, which the gateway asks for at once, are read before its
   * deadline, at about 0.1 s per million points.
   */
  groupPointsMax: 20_000_000,
  /** Histories of trials that are read from the log at once. */
  historiesAtOnce: 4,
  /** Trials that are read while the points of one are put into buckets: each has a connection to the database. */
  trialsAhead: 1,
  /** Blocks read at once: a few MiB of one metric. */
  blocksAtOnce: 128,
  /** Buckets in one answer, over all series: at most 190 bytes each, in a message of 1 MiB. */
  seriesBucketsMax: 4_000,
  seriesTrialsMax: 1_000,
  bucketsDefault: 1_000,
  /** Metric names in one answer, each of at most 1 KiB. */
  namesPerPageMax: 500,
  /** Points in one answer, and their bytes: an answer is one message on the bus, of at most 1 MiB. */
  pointsPerPageMax: 1_000,
  /** System points in one answer: with 16 values of 100 bytes each they fill three quarters of a message. */
  systemPointsPerPageMax: 500,
  /** Totals in one answer, each of at most 2.5 KB with the longest names, and the runs that it names. */
  profileTotalsPerPageMax: 400,
  profiledRunsMax: 1_000,
  pageBytesMax: 512 * 1024,
  /** Stored bytes that a page reads at once, unless a single part is larger. */
  pagePartsBytesMax: 4 * 1024 * 1024,
  /** Tails that one read of a stream returns, and their bytes, unless the first tail alone is larger. */
  streamTailsMax: 500,
  streamBytesMax: 1024 * 1024,
  /**
   * Time that compacted reports stay in their stream: a subscriber that was away for longer must list all points again.
   */
  streamKeptMs: 3_600_000,
  /** Tails that one step removes from the streams, and the pause when none are left. */
  streamSweptTails: 1_000,
  streamSweepPauseMs: 10_000,
  /** Larger live copies are not published: dashboards query the points that they did not receive. */
  liveCopyBytesMax: 512 * 1024,
} as const;
