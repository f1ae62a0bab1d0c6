export const registryLimits = {
  /** Files in one checkpoint, the same limit as in the SDK. */
  filesMax: 5_000,
  /** Characters of a manifest as JSON: it is part of one bus message of at most 1 MiB, together with metadata. */
  manifestCharactersMax: 896 * 1024,
  /** The longest path that Linux opens. */
  pathCharactersMax: 4_096,
  /** Characters of a path in a message. */
  pathCharactersShownMax: 200,
  /** Offending files that a refusal lists; its message contains only the first. */
  problemsToldMax: 16,
  /**
   * Bytes of the encoded metadata, which is part of an event of at most 256 KiB, together with a configuration's
   * storage section.
   */
  metadataBytesMax: 64 * 1024,
  /** Characters of a format's name, such as "trainyard" or "pytorch", which is part of the same event. */
  formatCharactersMax: 255,
  /** A caller is asked to retry after this time, before the gateway's deadline of 5 s; the hashing continues. */
  verifyWaitMs: 3_500,
  /** Finished verifications that are kept until their callers retry. */
  verificationsRememberedMax: 1_000,
  /** Objects of one checkpoint that are hashed concurrently. */
  objectsHashedAtOnce: 4,
  /** Files of one checkpoint that are read ahead of its completion: the SDK names the largest ones. */
  filesReadAheadMax: 100,
  /**
   * Bytes of one checkpoint that are read ahead, by file sizes, holes included: a disk of 1 GiB/s reads them in about
   * four minutes.
   */
  readAheadBytesMax: 256 * 1024 ** 3,
  /**
   * Checkpoints that are read ahead concurrently; completions use the same process. Further checkpoints are read at
   * their completion.
   */
  readAheadsAtOnceMax: 2,
  /** Incomplete checkpoints whose read-ahead is running or remembered. */
  readAheadsRememberedMax: 64,
  /** Files in one request for an upload or download plan: their addresses fit into one message. */
  filesPlannedMax: 100,
  /**
   * Requests in one answer to a plan: an address has about 700 bytes, and a message at most 1 MiB. The uploader asks
   * again for the rest.
   */
  partsPlannedMax: 800,
  /** Time between two progress events of an upload: the next run waits ten minutes after each. */
  uploadToldMs: 2 * 60 * 1000,
  /** Remembered plan pages of one checkpoint: a checkpoint of 5,000 files has as many. */
  pagesRememberedMax: 50,
  /** Manifests kept in memory for uploads that ask page by page: 5,000 files take about a megabyte. */
  manifestsIndexedMax: 16,
  /** Concurrent requests to an object store. */
  objectsAtOnce: 16,
  /**
   * A store that did not answer is retried after 5 s. At most a quarter of the service's concurrent bus commands may
   * wait for one store, so that requests for other stores are answered.
   */
  /** The longest probe of a store, which a person who submits waits for; the gateway waits 5 s for a command. */
  probeMs: 4_000,
  storeBrake: { restMs: 5_000, atOnceMax: 128 },
  /**
   * A root that returns no marker in this time counts as hanging. Shorter than `verifyWaitMs`, so that the answer to a
   * completion names the storage.
   */
  seenMs: 3_000,
  /** The longest wait for the listing of a root or the removal of a folder, which continue meanwhile. */
  diskWorkMs: 60_000,
  /** Lifetime of a context's address: an agent fetches the context at once. */
  contextUrlMs: 5 * 60 * 1000,
  /** Checkpoints that are abandoned or cleared in one pass, before other work continues. */
  unfinishedPage: 100,
  /** Roots in one answer, which a person reads. */
  storagesShownMax: 1_000,
  /** Checkpoints of a storage that are listed, so that a person who adopts it can check that they exist. */
  storageExamplesMax: 20,
  /** A marker names an event that is at most this old, plus the time to the next completion in its storage. */
  markerRenewedMs: 60_000,
  /** Time for which a marker that was read is trusted in declarations: each completion reads it again. */
  markerTrustedMs: 60_000,
  /** A folder counts as missing only after this time: a file server may cache its absence for about a minute. */
  folderMissingMs: 2 * 60 * 1000,
  /**
   * Time before a failed clearing is retried; it doubles with each failure, since a storage may be unavailable for
   * days.
   */
  tryAgainFirstMs: 1_000,
  tryAgainLastMs: 10 * 60 * 1000,
  /**
   * Time after which an ended run's checkpoints are abandoned: longer than the week in which an agent tries to deliver
   * them.
   */
  namedMs: 8 * 24 * 60 * 60 * 1000,
  /**
   * Default time that the files of failed and abandoned checkpoints are kept: a day is enough to notice a missing
   * checkpoint.
   */
  abandonedGraceSeconds: 24 * 60 * 60,
  /** Versions of a model: its state is folded in about a second, and its numbers stay short. */
  versionsMax: 100_000,
  /** Aliases of a model. They are roles, such as champion, and each answer about the model contains all of them. */
  aliasesMax: 100,
  /**
   * Limits of the words of a model or version: they are part of an event of at most 256 KiB, together with metadata and
   * metrics.
   */
  labelsMax: 64,
  labelCharactersMax: 255,
  descriptionBytesMax: 4 * 1024,
  notesBytesMax: 32 * 1024,
  reasonCharactersMax: 1_000,
  /** Bytes of the metrics at a version's step, in alphabetical order of names: they are part of the same event. */
  versionMetricsBytesMax: 48 * 1024,
  /** Events of a trial's measurements that are read at once. */
  measurementsPage: 1_000,
  /** Characters of a pin's reason, which is part of an event and of each answer about the checkpoint. */
  pinReasonCharactersMax: 1_000,
  /** Characters of the id and of the name in a report of a rewind, which are part of an event. */
  nameCharactersMax: 255,
  /** Unfinished checkpoints in one page of the list for a person. */
  unfinishedListedMax: 200,
  /** Files or folders in one answer. */
  findingsToldMax: 1_000,
  /** Names in one event of deleted unknown files, each as long as a UUID. */
  namesPerEvent: 1_000,
  /**
   * The youngest folder that an audit may delete. The SDK writes a checkpoint before it declares it, and an agent
   * offers it for up to eight days after the end of its run, so a younger folder may be one.
   */
  auditAgeLeastMs: 9 * 24 * 60 * 60 * 1000,
  /** Files in one insert into the table of manifests. */
  manifestRowsPerInsert: 5_000,
  /** Checkpoints whose manifests one statement deletes: at most 50,000 rows, which take about a second. */
  manifestsPerPurge: 10,
} as const;
