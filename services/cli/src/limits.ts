export const cliLimits = {
  /** Items fetched with one request; lists are shown whole. */
  pageSize: 500,
  /** Lines of a log fetched with one request. */
  logPageSize: 1_000,
  /** Files of one context, so that a wrong folder is noticed before it is packed. */
  contextFilesMax: 50_000,
  /** The failed trials in an experiment's description: the first few say why, `trial list` has the rest. */
  failedShown: 10,
  /** The waiting runs in an experiment's description. */
  waitingShown: 5,
  /** How long the description of an experiment waits for the reasons: it is useful without them. */
  explainMs: 2_000,
  /** Between two questions about files that are being read again. */
  verifyAgainMs: 500,
  /** A question to git: a large repository on a slow disk takes seconds. */
  gitMs: 20_000,
  /** The maximal answer of git in bytes; a longer diff is not recorded, as the gateway would refuse it. */
  gitBytesMax: 1024 * 1024,
  /** Changed files in one diff: more do not fit into a command line. */
  gitPathsMax: 1_000,
  /** The registry's own limit. */
  auditAgeLeastMs: 24 * 60 * 60 * 1000,
} as const;
