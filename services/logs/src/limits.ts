export const logsLimits = {
  /** Text bytes in an agent's batch; with its envelope, a batch stays below the bus limit of 1 MiB. */
  batchBytesMax: 768 * 1024,
  /** Bytes of one line: agents split lines at 16 KiB, and each byte of invalid UTF-8 becomes three. */
  lineBytesMax: 64 * 1024,
  /** Rows in one insert: about ten milliseconds of the database's time. */
  rowsPerWriteMax: 5_000,
  /** Rows waiting in one process; beyond this number agents wait and keep their files. */
  rowsWaitingMax: 50_000,
  /** Bytes of lines in one insert, and waiting in one process: an insert has about sixty lines of 64 KiB. */
  bytesPerWriteMax: 4 * 1024 * 1024,
  bytesWaitingMax: 64 * 1024 * 1024,
  /** Lines in one answer, and their bytes as JSON: an answer is one message on the bus, of at most 1 MiB. */
  linesPerPageMax: 1_000,
  pageBytesMax: 640 * 1024,
  /** Bytes that the database reads for one page, before the page's size as JSON is known. */
  pageTextBytesMax: 640 * 1024,
  /**
   * Lines that one step of a filtered query reads, and that one answer reads: under a second of the database's time.
   */
  linesPerStepMax: 5_000,
  linesPerAnswerMax: 50_000,
  /** Bytes of text that one answer compares with an expression: the slowest expressions take a second for them. */
  matchedBytesPerAnswerMax: 4 * 1024 * 1024,
  /** Bytes of text that the comparing thread compares before the next reader's turn. */
  matchedBytesPerTurnMax: 16 * 1024,
  /** Processor time that one answer may use of the comparing thread, which all readers share. */
  matchMsPerAnswer: 1_000,
  /**
   * Instructions of a compiled expression, which determine the time per line. A log policy may have at most 500 at
   * submission.
   */
  patternInstructionsMax: 1_000,
  /** Compiled expressions that a thread caches. */
  compiledMax: 256,
  /**
   * Processor time of the comparing thread for one batch and all its log policies: the agent times out after ten
   * seconds.
   */
  policyMsPerBatch: 4_000,
  /** Processor time of the comparing thread for one batch and all patterns of webhooks. */
  webhookMsPerBatch: 2_000,
  /** How long a batch waits until this replica has read the log up to the grants of its runs. */
  followedWithinMs: 5_000,
  /** Experiments whose log policies a process caches, and nodes of runs whose recorded matches it caches. */
  experimentsKnownMax: 1_000,
  runsToldMax: 10_000,
  /** Runs whose stored grant a process caches: more than a large cluster has at a time. */
  runsKnownMax: 20_000,
  /** Time between two looks for lines of lost runs. */
  lostRunsLookMs: 60_000,
  /**
   * Lines and bytes in one chunk of the word index. A chunk is made as soon as `chunkBytesMin` bytes are not indexed.
   */
  chunkLinesMax: 4_096,
  chunkBytesMax: 1024 * 1024,
  chunkBytesMin: 256 * 1024,
  /** Lines whose words are collected before other work may run: about a millisecond. */
  chunkLinesPerTurn: 128,
  /**
   * Experiments in one indexing step, with one chunk each; the shortest pause after a step, and the pause after a step
   * without work.
   */
  chunkExperimentsMax: 8,
  chunkPauseMs: 50,
  chunkIdleMs: 2_000,
  /**
   * The pause after an indexing step, as a multiple of the step's time: indexing takes at most a quarter of the
   * service's time.
   */
  chunkPausesPerStep: 3,
  /** Chunks that one query skips at most: 40 million lines, a second of the database's time. */
  chunksPerLookMax: 10_000,
  /** Characters of a matching line that its event contains. */
  matchedLineCharactersMax: 1_000,
  /** Lines that one statement removes: about ten milliseconds of the database's time. */
  linesPerRemovalMax: 5_000,
  /** Time between two retention sweeps. */
  retentionLookMs: 5 * 60_000,
  /** Characters of a search text: a longer pattern would be compared with every line. */
  containsCharactersMax: 1_000,
} as const;
