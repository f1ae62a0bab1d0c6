export const limits = {
  /** The first and the longest wait before a process that died is started again. */
  backoffFirstMs: 200,
  backoffLastMs: 5_000,
  /** A process that lived this long had started well: its next death begins at the shortest wait again. */
  backoffResetMs: 10_000,
  /** How often processes that are not our children are looked at: they cannot be waited for. */
  adoptedCheckMs: 200,
  /** A log that grew beyond this is moved aside, once: a process holds at most twice this on disk. */
  logBytesMax: 16 * 1024 * 1024,
  logCheckMs: 5_000,
  /** From SIGTERM to SIGKILL: a service drains for up to 10 s. */
  stopServiceMs: 12_000,
  /**
   * An agent that stops its trials gives them 10 s to leave by themselves, 5 s after SIGTERM, and 5 s to report their
   * ends.
   */
  stopAgentMs: 25_000,
  stopNatsMs: 10_000,
  /** The remains of an earlier supervisor, of any kind. */
  stopLeftoverMs: 25_000,
  /** A fast shutdown writes a checkpoint, which on a slow disk takes a while; what SIGKILL leaves is recovered. */
  stopPostgresMs: 30_000,
  /** Left-over processes of trials, from SIGTERM to SIGKILL. */
  sweepMs: 5_000,
  /** A first start on a slow disk (initdb and its fsyncs), and recovery of a large write-ahead log. */
  infrastructureReadyMs: 120_000,
  servicesReadyMs: 120_000,
  /** All steps of a start, the fetching of a nats-server included, and all steps of an end. */
  upMs: 600_000,
  downMs: 120_000,
  /**
   * Between two looks at a condition that nothing announces: at first, and at most, as it grows with what was waited.
   */
  pollMs: 20,
  pollLastMs: 250,
  /** The part of a wait by which its end may be noticed late: looks cost what is waited for the time to come up. */
  pollShare: 0.02,
  /** A supervisor that does not answer a question for this long counts as hanging. */
  controlStatusMs: 10_000,
  /** A restart is answered when the process serves again. */
  controlRestartMs: 180_000,
  /** One line of the control socket. */
  controlLineBytesMax: 1024 * 1024,
  /** A build of the Web UI takes seconds; on a busy machine it may take minutes. */
  webBuildMs: 600_000,
  /** Builds that no start used for so long are removed: a week. */
  webBuildKeptMs: 604_800_000,
  /** The lines of a log that an error quotes. */
  quotedLogLines: 15,
} as const;
