export const cliLimits = {
  /** Items fetched with one request; lists are shown whole. */
  pageSize: 500,
  /** Lines of a log fetched with one request. */
  logPageSize: 1_000,
  /** Files of one context, so that a wrong folder is noticed before it is packed. */
  contextFilesMax: 50_000,
  /** Of an experiment's failed trials in its description: the first few say why, the rest are a list away. */
  failedShown: 10,
  /** Of an experiment's waiting runs in its description. */
  waitingShown: 5,
  /** How long the description of an experiment waits for the reasons: it is useful without them. */
  explainMs: 2_000,
  /** Between two questions about files that are being read again. */
  verifyAgainMs: 500,
  /** A question to git: a large repository on a slow disk takes seconds. */
  gitMs: 20_000,
  /** Of an answer of git; a longer diff is not recorded, as the gateway would refuse it. */
  gitBytesMax: 1024 * 1024,
  /** Changed files in one diff: more do not fit into a command line. */
  gitPathsMax: 1_000,
  /** As the registry has it. */
  auditAgeLeastMs: 24 * 60 * 60 * 1000,
} as const;
