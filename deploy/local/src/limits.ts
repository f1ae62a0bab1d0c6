export const limits = {
  /** The first and the longest wait before a dead process is started again. */
  backoffFirstMs: 200,
  backoffLastMs: 5_000,
  /** A process that lived this long had started well: after its next death the wait is the shortest again. */
  backoffResetMs: 10_000,
  /** A log larger than this is moved aside, keeping one old file, so a process uses at most twice this on disk. */
  logBytesMax: 16 * 1024 * 1024,
  logCheckMs: 5_000,
  /** The wait between SIGTERM and SIGKILL of a service, which drains for up to 10 s. */
  stopServiceMs: 12_000,
  /**
   * An agent that stops its trials gives them 10 s to end by themselves, 5 s after SIGTERM, and 5 s to report their
   * ends.
   */
  stopAgentMs: 25_000,
  stopNatsMs: 10_000,
  /**
   * The longest fast shutdown: its checkpoint is slow on a slow disk. After a SIGKILL the next start recovers the data.
   */
  stopPostgresMs: 30_000,
  /** The wait between SIGTERM and SIGKILL of runs that no agent ends. */
  stopRunsMs: 5_000,
  /** The kernel removes a killed process in less time, unless it waits for a device. */
  killedMs: 5_000,
  /** The longest that the processes of a killed supervisor take to end: PostgreSQL may need all of its time. */
  orphansMs: 60_000,
  /**
   * Long enough for a first start on a slow disk (initdb and its fsyncs), and for recovery of a large write-ahead log.
   */
  infrastructureReadyMs: 120_000,
  servicesReadyMs: 120_000,
  /** The limit of all steps of a start, including the download of a nats-server, and of all steps of an end. */
  upMs: 600_000,
  downMs: 120_000,
  /** The polling interval of conditions that nothing announces: the first one, and the longest, to which it grows. */
  pollMs: 20,
  pollLastMs: 250,
  /**
   * The polling interval as a share of the time waited: fewer checks on long waits, which end at most this share late.
   */
  pollShare: 0.02,
  /** A supervisor that does not answer a request for this long counts as hanging. */
  controlStatusMs: 10_000,
  /** The limit of a restart request, which is answered when the process serves again. */
  controlRestartMs: 180_000,
  /** The longest line on the control socket. */
  controlLineBytesMax: 1024 * 1024,
  /** A build of the Web UI takes seconds; on a busy machine it may take minutes. */
  webBuildMs: 600_000,
  /** Builds that no start has used for this long (a week) are removed. */
  webBuildKeptMs: 604_800_000,
  /** The number of log lines that an error quotes. */
  quotedLogLines: 15,
} as const;
