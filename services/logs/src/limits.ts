export const logsLimits = {
  /** A batch of an agent as it comes over the bus; with its envelope it stays below the message's 1 MiB. */
  batchBytesMax: 768 * 1024,
  /** Agents split at 16 KiB; each byte that is no UTF-8 becomes three. */
  lineBytesMax: 64 * 1024,
  /** Rows of one insert: some ten milliseconds of the database's time. */
  rowsPerWriteMax: 5_000,
  /** Rows waiting in one process: beyond it agents wait and keep their files. */
  rowsWaitingMax: 50_000,
  /** The same in bytes: lines of 200 bytes take a fifth of it, and lines of 64 KiB are written sixty at a time. */
  bytesPerWriteMax: 4 * 1024 * 1024,
  bytesWaitingMax: 64 * 1024 * 1024,
  /** Lines of one answer, and their bytes as JSON: an answer is one message on the bus, of 1 MiB at most. */
  linesPerPageMax: 1_000,
  pageBytesMax: 640 * 1024,
  /** The bytes that the database reads for one page before its size as JSON is known. */
  pageTextBytesMax: 640 * 1024,
  /**
   * Lines that one step of a filtered query reads, and what one answer looks at: under a second of the database's time.
   */
  linesPerStepMax: 5_000,
  linesPerAnswerMax: 50_000,
  /** The bytes of text that an answer compares with an expression: the slowest expressions take a second for it. */
  matchedBytesPerAnswerMax: 4 * 1024 * 1024,
  /** Compared in one turn of the thread that does it: readers take turns. */
  matchedBytesPerTurnMax: 16 * 1024,
  /** Processor time of the comparing thread for one answer; readers share the thread. */
  matchMsPerAnswer: 1_000,
  /**
   * The instructions of a compiled expression: the time for a line grows with them. A log policy's has at most 500 when
   * it is submitted.
   */
  patternInstructionsMax: 1_000,
  /** Expressions that a thread keeps compiled. */
  compiledMax: 256,
  /**
   * Processor time of the thread that compares, for a batch's lines and the log policies: an agent waits ten seconds.
   */
  policyMsPerBatch: 4_000,
  /** Experiments whose log policies a process remembers, and nodes of runs of which it knows what was recorded. */
  experimentsKnownMax: 1_000,
  runsToldMax: 10_000,
  /** Lines and bytes of one chunk of the index of words; a chunk is made when the bytes are reached. */
  chunkLinesMax: 4_096,
  chunkBytesMax: 1024 * 1024,
  chunkBytesMin: 256 * 1024,
  /** Lines whose words are taken in one turn: about a millisecond. */
  chunkLinesPerTurn: 128,
  /**
   * Experiments of one step, each with one chunk; the pause after a step, at least, and after one that found none
   * due.
   */
  chunkExperimentsMax: 8,
  chunkPauseMs: 50,
  chunkIdleMs: 2_000,
  /**
   * The pause after a step, in times of the step: chunks take at most a quarter of the service's time, lines go first.
   */
  chunkPausesPerStep: 3,
  /** Chunks that one look passes over: 40 million lines, a second of the database's time. */
  chunksPerLookMax: 10_000,
  /** The characters of a line in the event that a policy matched it. */
  matchedLineCharactersMax: 1_000,
  /** Lines that one statement removes, some ten milliseconds of the database's time. */
  linesPerRemovalMax: 5_000,
  /** Between two looks at what is to be removed. */
  retentionLookMs: 5 * 60_000,
  /** A text that is searched for: a pattern of any length would be compared with every line. */
  containsCharactersMax: 1_000,
} as const;
