export const cliLimits = {
  /** The items of one request; lists are printed whole. */
  pageSize: 500,
  /** The log lines of one request. */
  logPageSize: 1_000,
  /** The most files of one context, so that a wrong folder is noticed before it is packed. */
  contextFilesMax: 50_000,
  /** The number of largest files that the refusal of a context over the limit names. */
  largestNamed: 3,
  /** The number of metrics that a refusal of an unknown one names; `trial metrics --names` has all. */
  metricsNamed: 10,
  /** The most failed trials that an experiment's description explains; `trial list` has the others. */
  failedShown: 10,
  /** The most waiting runs that an experiment's description lists. */
  waitingShown: 5,
  /** The longest wait of an experiment's description for the scheduler's reasons: it is useful without them. */
  explainMs: 2_000,
  /** The longest wait of a task's description for its agent, which says how the task is used. */
  taskUseMs: 2_000,
  /** The pause between two requests about a task whose log has ended. */
  taskEndAgainMs: 200,
  /** The pause between two requests about a running verification. */
  verifyAgainMs: 500,
  /** The number of extra files that a verification names. The JSON output has up to 1,000. */
  extrasNamedMax: 5,
  /** The timeout of a git command: in a large repository on a slow disk it takes seconds. */
  gitMs: 20_000,
  /** The longest output of git in bytes. A longer diff is not recorded: the gateway would refuse it. */
  gitBytesMax: 1024 * 1024,
  /** The most changed files in one diff: more do not fit into a command line. */
  gitPathsMax: 1_000,
  /** The least age of files in an audit, which the registry also requires. */
  auditAgeLeastMs: 9 * 24 * 60 * 60 * 1000,
  /** A stream whose reader has stopped answers no ping: it is dead after this many looks of 5 s. */
  streamDeadLooks: 120,
  /** A terminal always reads what is typed: without an answer for 20 s its connection is made again. */
  terminalDeadLooks: 4,
  /** The pause between two requests about a task that waits for its place: short for the first ten seconds. */
  taskPlaceSoonMs: 200,
  taskPlaceSoonLooks: 50,
  taskPlaceAgainMs: 1_000,
} as const;
