export const registryLimits = {
  /** Files of one checkpoint: as many as the SDK stores. */
  filesMax: 5_000,
  /** A manifest travels in one message of the bus, which takes 1 MiB, with the metadata beside it. */
  manifestCharactersMax: 896 * 1024,
  /** The longest path that Linux opens. */
  pathCharactersMax: 4_096,
  /** The characters of a path in a sentence. */
  pathCharactersShownMax: 200,
  /** Offending files that a refusal lists; the first is in its sentence. */
  problemsToldMax: 16,
  /**
   * The encoded metadata: it is part of an event of at most 256 KiB, with the storage section of a configuration beside
   * it.
   */
  metadataBytesMax: 64 * 1024,
  /** The name of a format, as "trainyard" or "pytorch": part of the same event. */
  formatCharactersMax: 255,
  /**
   * A caller is asked to retry after this time, sooner than the gateway's own deadline of 5 s; the hashing continues.
   */
  verifyWaitMs: 3_500,
  /** Verifications that are remembered until their callers come again. */
  verificationsRememberedMax: 1_000,
  /** Files that are hashed at one time: what keeps one disk busy without seeking. */
  filesHashedAtOnce: 4,
  hashChunkBytes: 1024 * 1024,
  /** Longer than a tick of the clock that a file system takes its times from: 10 ms at most in Linux. */
  clockTickMs: 20,
  /** Files of a checkpoint that are read ahead of its completion: the SDK names the largest ones. */
  filesReadAheadMax: 100,
  /**
   * The bytes of one checkpoint that are read ahead, by the sizes of its files, holes too: a disk of 1 GiB/s reads them
   * in some four minutes.
   */
  readAheadBytesMax: 256 * 1024 ** 3,
  /**
   * Checkpoints whose files are read ahead at one time: completions read by the same thread. Others are read at their
   * completion.
   */
  readAheadsAtOnceMax: 2,
  /** Checkpoints whose files are read ahead, or were, and that are not complete yet. */
  readAheadsRememberedMax: 64,
  /** Files whose upload or download is planned in one request: their addresses fit into one message. */
  filesPlannedMax: 100,
  /**
   * Requests in one answer to a plan: an address has about 700 bytes, and a message 1 MiB. The uploader asks again for
   * the rest.
   */
  partsPlannedMax: 800,
  /** Between two events of an upload that moves: the next run waits ten minutes from each. */
  uploadToldMs: 2 * 60 * 1000,
  /** The plan of a checkpoint of 5,000 files has as many pages. */
  pagesRememberedMax: 50,
  /** Manifests that are kept in memory for uploads that ask page by page: 5,000 files are about a megabyte. */
  manifestsIndexedMax: 16,
  /** Requests to an object store at one time. */
  objectsAtOnce: 16,
  /**
   * A store that did not answer is asked again after 5 s. The requests that wait for one store are a quarter of the
   * commands that the bus lets a service work on, so that those of other storages are answered.
   */
  storeBrake: { restMs: 5_000, atOnceMax: 128 },
  /** An agent that got an address begins to fetch at once. */
  contextUrlMs: 5 * 60 * 1000,
  /** Checkpoints that are abandoned or cleared in one go, before others get their turn. */
  unfinishedPage: 100,
  /** A person reads them: one answer has at most so many roots. */
  storagesShownMax: 1_000,
  /** Checkpoints of a storage that are named, so that its adopter can look whether they are there. */
  storageExamplesMax: 20,
  /** A file server may remember for a minute or so that a folder was not there: until then it is not missing. */
  folderMissingMs: 2 * 60 * 1000,
  /** A failed clearing is tried again after this long, then after twice the time: a storage may be away for days. */
  tryAgainFirstMs: 1_000,
  tryAgainLastMs: 10 * 60 * 1000,
  /** Longer than an agent tries to deliver what an ended run has left, a week: then nobody will. */
  namedMs: 8 * 24 * 60 * 60 * 1000,
  /**
   * How long the files of failed and abandoned checkpoints are kept, unless the environment says otherwise: who misses
   * one looks the next day.
   */
  abandonedGraceSeconds: 24 * 60 * 60,
  /** Versions of a model: its state is folded in about a second, and its numbers stay short. */
  versionsMax: 100_000,
  /** Aliases are roles, such as champion; each is in every answer about the model. */
  aliasesMax: 100,
  /**
   * Words about a model or a version are part of an event of at most 256 KiB, together with the metadata and metrics.
   */
  labelsMax: 64,
  labelCharactersMax: 255,
  descriptionBytesMax: 4 * 1024,
  notesBytesMax: 32 * 1024,
  reasonCharactersMax: 1_000,
  /** The metrics at a version's step, by name in alphabetical order: they are part of the same event. */
  versionMetricsBytesMax: 48 * 1024,
  /** Events of a trial's measurements that are read at once. */
  measurementsPage: 1_000,
  /** The reason of a pin is part of an event and of each answer about the checkpoint. */
  pinReasonCharactersMax: 1_000,
  /** Files or folders that one answer names. */
  findingsToldMax: 1_000,
  /** Names in one event of deleted unknown files, each as long as a UUID. */
  namesPerEvent: 1_000,
  /** The SDK writes a checkpoint before it declares it: what is younger than a day may be one of these. */
  auditAgeLeastMs: 24 * 60 * 60 * 1000,
  /** Files of one insert into the table of manifests. */
  manifestRowsPerInsert: 5_000,
} as const;
