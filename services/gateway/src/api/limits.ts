/** The limits of single calls. */
export const apiLimits = {
  /** The most experiments of one request, and of each of its commits. */
  actedOnMax: 10_000,
  actedOnTogether: 250,
  /** The deadline of a command to a service; beyond it the caller is asked to retry. */
  commandDeadlineMs: 5_000,
  /** A scheduler that is silent for this long counts as away: a list waits for it, once in `schedulerTrustedMs`. */
  schedulerAnswersMs: 1_000,
  schedulerTrustedMs: 3_000,
  /**
   * The longest wait for a service's verification, for example while it starts. Beyond it the service counts as
   * unavailable.
   */
  verifyPatienceMs: 10_000,
  /** The runs in the answer about a single trial or task; earlier ones are in the log. */
  shownRuns: 50,
  /** The interval at which a stream of events names its place while no event matches. */
  eventBookmarkMs: 10_000,
  /** The pages of old events that are read at once for streams of events, and those of one caller. */
  eventReplays: { max: 4, ofOneMax: 2 },
  /** The time for which the old signing secret of a webhook signs beside the new one, unless the caller says more. */
  oldSecretMs: 24 * 3_600_000,
  /** A signals call is held open for at most this long. */
  signalsWaitMsMax: 30_000,
  /** The most trials in a query for series: a hundred curves of several metrics, with a bucket per pixel. */
  seriesTrialsMax: 200,
  seriesNamesMax: 50,
  /** The most buckets, which is also the metrics service's limit for one answer. */
  seriesBucketsMax: 4_000,
  /** The most points of all trials in one query to the metrics service, which reads a million points in 0.1 s. */
  seriesPointsMax: 1_000_000,
  /**
   * The queries for series that run at once, each for at most about 0.1 s of the metrics service's time. One call makes
   * several.
   */
  seriesQueries: { max: 8, ofOneMax: 4 },
  /** The time for which an answer is kept: the points that it has may be removed meanwhile. */
  seriesKeptMs: 10_000,
  /**
   * The same for combined series, of up to 200 trials: two of them, each for a second or two, end before their
   * deadline.
   */
  combinedQueries: { max: 2, ofOneMax: 1 },
  /** The most metrics of a comparison, which is also the metrics service's limit for one answer. */
  comparedMetricsMax: 500,
  /** The environments of a comparison that are read at once. */
  environmentsAtOnce: 8,
  /** About the most characters of a page of events; large events take several pages. */
  listedEventsCharacters: 4 * 1024 * 1024,
  /** The longest label of a token, which identifies it in a list and is part of an event. */
  tokenLabelCharactersMax: 255,
  /** The longest chain of tokens, each created by the one before: all are looked up for each request with the last. */
  tokenAncestorsMax: 16,
  /** The most workspaces of a token's limit, which each call with the token looks through. */
  tokenWorkspacesMax: 100,
  /** The most file names that are compared with the name of a missing script: a comparison takes microseconds. */
  scriptsComparedMax: 1_000,
  /** The most trials in one page of a search's picture. */
  picturedTrialsMax: 1_000,
  /** The events of a search that are read at once. */
  searchEventsPage: 500,
  /** The bytes of the searches that are kept for analyses, some hundred thousand trials. */
  analysedBytesMax: 128 * 1024 * 1024,
  /** The longest branch, remote or folder of a repository, and the longest name of a client. */
  sourceTextCharactersMax: 1_000,
  /** The longest diff of a repository; the model code has all changes anyway. */
  sourceDiffCharactersMax: 1024 * 1024,
  /** The most packages of a run's environment: some have hundreds. */
  packagesMax: 2_000,
  packageTextCharactersMax: 200,
  /** The most bytes of all overrides of a submission, which is also the limit of the configuration. */
  overridesBytesMax: 96 * 1024,
  /**
   * The most files that a comparison of code names, the most that it compares as text, and the largest of the latter.
   */
  diffFilesMax: 1_000,
  diffTextFilesMax: 100,
  diffFileBytesMax: 64 * 1024,
  /** The files in the kept lists of stored code, in total: two of the longest lists. */
  codeFilesKept: 200_000,
  /** The bytes of one file of stored code that an answer has as text; a longer file is cut off. */
  codeFileBytesMax: 1024 * 1024,
  /** The most versions in an answer about the best versions of a model. */
  bestVersionsMax: 100,
  /** The most conditions of a query for versions: each is checked for each version that is read. */
  conditionsMax: 16,
  /**
   * A root of checkpoints that returns no marker in `seenMs` counts as hanging, and is asked again after `restMs`. A
   * listing, or 256 KiB of a file, may take `workMs`. At most `atOnceMax` requests wait for one root.
   */
  storages: {
    storageBrake: { restMs: 5_000, atOnceMax: 128 },
    seenMs: 3_000,
    workMs: 60_000,
  },
  /** The files of a checkpoint whose downloads are planned at once: the registry plans no more in one answer. */
  objectsPlannedMax: 100,
  /** The files of a checkpoint whose presence in an object store is asked for at once. */
  objectsAskedAtOnce: 16,
  /** The most TensorBoard files and folders of one trial; more cannot be event files. */
  tensorboardFilesMax: 100_000,
  /** The most files and folders of one trial that a TensorBoard shows, and of how many the size is read at once. */
  boardFilesMax: 2_000,
  boardFilesAtOnce: 16,
  /** The time for an agent to say how a task is used, and the bytes of its answer, which has few short fields. */
  taskUseMs: 5_000,
  taskUseBytesMax: 16 * 1024,
} as const;
