/** The limits of what an agent does, each with its reason. */
export const limits = {
  /** The interval between two requests whether the API answers: of 1,000 agents they are 100 a second. */
  apiLookMs: 10_000,
  apiAnswerMs: 5_000,
  /** The interval between two requests whether the container engine answers, and their time limit. */
  engineLookMs: 2_000,
  engineAnswerMs: 5_000,
  /** An engine that does not answer for this long is away, as in /readyz: an update restarts it in a few seconds. */
  engineNoticedMs: 10_000,
  /** The most starters that get the same order: after this many deaths without an answer the order is the cause. */
  startersAsked: 3,
  /**
   * The longest wait between two attempts to reach NATS. The scheduler counts an agent as lost 30 s after it hears NATS
   * again: until then each agent must have tried. 1,000 agents then dial about 70 times a second.
   */
  dialWaitLastMs: 20_000,
  /** The interval of reports without a change, the same as the scheduler's own beat. */
  beatMs: 1_000,
  /** The kernel announces changes of a folder; this is the longest time that an unannounced one is missed. */
  lookMs: 500,
  /**
   * Lines of one batch; the message has at most 512 KiB, and a line's own fields take about this many bytes beside its
   * text.
   */
  linesPerBatch: 1_000,
  batchBytesMax: 400 * 1024,
  lineOverheadBytes: 160,
  /**
   * The least time between two batches of one run: a process that prints in a loop fills batches instead of the bus.
   */
  batchGapMs: 50,
  /** The time limit of the logs service for a batch. */
  writeLinesMs: 10_000,
  /** The waits between attempts after a fault. */
  retry: { firstMs: 100, lastMs: 5_000, spread: 0.25 },
  /**
   * The longest time that an exit waits for the reports that the process left, so that its validations precede its end.
   */
  reportsBeforeEndMs: 10_000,
  /**
   * The longest time that an exit waits for the run's last lines, so that a reader of the log sees them before the end.
   */
  linesBeforeEndMs: 2_000,
  /**
   * The longest time that the exit of a task waits for its last lines, which are all that it leaves: one that follows a
   * command gets all of its output. It is as long as a lost agent is waited for.
   */
  taskLinesBeforeEndMs: 120_000,
  /**
   * The shortest time of the waits above for a run that ended while no agent was running, for which they may be
   * over.
   */
  beforeOldEndMs: 2_000,
  /** The wait for reports, lines, checkpoints and files of a killed run, whose results decide nothing. */
  beforeKilledEndMs: 1_000,
  /**
   * The longest time that an exit waits for checkpoints that the run left, which the platform mostly completes at once.
   * The end names those that take longer, and they are delivered after it: neither the slots nor the next step wait for
   * bytes.
   */
  checkpointsBeforeEndMs: 2_000,
  /**
   * The longest time that an exit waits for the run's last TensorBoard files: once the trial's next run has begun, they
   * replace no files in the store.
   */
  tensorBoardBeforeEndMs: 5_000,
  /** The registry's limit for the reason why a checkpoint can never be sent. */
  failReasonCharactersMax: 1_000,
  /**
   * The most checkpoints of a run that a report names, at 100 bytes each: after an outage with more the latest are
   * named.
   */
  sealedNamedMax: 32,
  /** The time limit of a request that delivers reports or a checkpoint. */
  deliveryRequestMs: 30_000,
  /** The wait after an answer that refuses the caller: what a person has to repair takes longer than an outage. */
  refusedAgainMs: 60_000,
  /**
   * The pause between two checks of stored checkpoints, for the first and the further ones of a pass: 1,000 agents that
   * start together ask 1,000 times a second for some minutes, and then 200 times.
   */
  storedCheckGapFirstMs: 1_000,
  storedCheckGapMs: 5_000,
  storedChecksFirst: 200,
  /** The most stored checkpoints of a host that a pass checks, the newest: the list has 20 MB at most. */
  storedChecksMax: 100_000,
  /** The most reasons for a wait that the agent's log names in one outage. */
  waitReasonsSaidMax: 8,
  /** A checkpoint that waits for this long is named in the trial's log. */
  waitsLongMs: 24 * 60 * 60 * 1_000,
  /** The time for which the agent trusts that files it sent are still in the store. */
  sentRememberedMs: 5 * 60_000,
  /** An upload that moves bytes reports this every 5 s; one that is silent for this long is ended and retried later. */
  uploadSilenceMs: 10 * 60_000,
  /**
   * The most reports of a request, and the most bytes of their lines, as in the SDK: the metrics service accepts 4 MiB.
   */
  reportsPerRequest: 1_000,
  reportBytesPerRequest: 3_500_000,
  /**
   * The time limit for the registry to answer with an address; the download may then take any time while it makes
   * progress.
   */
  contextPlanMs: 5_000,
  contextSilenceMs: 30_000,
  /** The time after which a run's log says why its code cannot be fetched: a restart of the registry is shorter. */
  contextToldMs: 5_000,
  /** The number of downloads with a wrong digest after which the launch counts as failed. */
  contextAttemptsMax: 3,
  /**
   * The size of the cache of packed model code for further runs of an experiment; the least recently used code is
   * evicted.
   */
  contextCacheBytesMax: 2 * 1024 * 1024 * 1024,
  /** The number of folders of forgotten runs that are kept for inspection. Their model code is removed at once. */
  keptRunsMax: 200,
  keptRunsMs: 24 * 60 * 60 * 1_000,
  /** The interval in which the undelivered checkpoints of forgotten runs are counted. */
  undeliveredLookMs: 10_000,
  /** The number of runs with undelivered checkpoints that a report names. */
  undeliveredRunsMax: 64,
  /**
   * Lines and reports of a forgotten run that could not be delivered for this long (a week) are dropped. A checkpoint
   * stays while the disk has room.
   */
  undeliveredMs: 7 * 24 * 60 * 60 * 1_000,
  /** The free share of a disk below which the oldest undelivered checkpoints of forgotten runs are removed. */
  diskFloorShare: 0.05,
  cleanUpMs: 60_000,
  /** The time limit for removing one run's folder as its user; the next clean-up continues where this one stopped. */
  removeFolderMs: 60_000,
  /** The time after which a launch says that a folder does not answer. A busy file server needs less. */
  folderAnswerMs: 3_000,
  /** The time from the request to stop, which the SDK reads, to SIGTERM: enough to store a checkpoint of some size. */
  stopGraceMs: 10_000,
  /**
   * The time from SIGTERM to SIGKILL when the host shuts its runs down, and then the time to record and report their
   * ends.
   */
  shutdownGraceMs: 5_000,
  shutdownTellMs: 5_000,
  /** The interval between two kills of a process that is slow to die. */
  killAgainMs: 1_000,
  /** A single scan of /proc may miss a process that forks during the scan; this many scans in a row do not. */
  looksToBeSure: 3,
  /**
   * A process that exists this long after its kill is reported: tearing down a large GPU context takes a few seconds.
   */
  tellLeftMs: 10_000,
  /** The interval between attempts to write a record for which the disk had no room. */
  writeAgainMs: 1_000,
  /**
   * The largest end.json that is read. The SDK writes at most 2,000 characters, 24 KiB with all of them escaped; a
   * longer message of a script is shortened.
   */
  endRecordBytesMax: 1024 * 1024,
  /** The largest last-validation that is read. The SDK writes 32 bytes. */
  lastValidationBytesMax: 64,
  /** The longest message of an end.json, as long as the scheduler records. */
  endMessageCharsMax: 2_000,
  /** The longest text of an engine's or registry's message that is kept, and of a line of the agent. */
  saidCharsMax: 2_000,
  /**
   * The largest SDK file about a checkpoint: its manifest, or its metadata, of which the registry accepts 960 Ki
   * characters.
   */
  sealedBytesMax: 4 * 1024 * 1024,
  /** The most checkpoints of a run's spool that one look reads: a spool full of names delays no other run's report. */
  spoolEntriesMax: 10_000,
  /** The most files of any name that one look goes through, which takes a tenth of a second. */
  spoolLooksMax: 100_000,
  /** The longest offset into the spool, in digits. */
  acknowledgedBytesMax: 64,
  /**
   * The size of one part of a report: the bus accepts messages of 1 MiB, and a part exceeds this by at most one run.
   */
  reportPartBytesMax: 768 * 1024,
  /** nvidia-smi may have to load the driver first, which takes seconds for each GPU. */
  deviceProgramMs: 20_000,
  /** The interval between two looks at the devices: one look keeps the driver busy for up to a second. */
  deviceLookMs: 30_000,
  /** The number of failed looks in a row that withdraw all devices; a single look may fail on a busy host. */
  deviceFailedLooks: 2,
  /** The output limit of one call; a list of 100 GPUs has 20 KiB. */
  deviceOutputBytesMax: 1024 * 1024,
  /** The maximum of characters of a device tool's line in a message. */
  deviceLineCharsMax: 200,
  deviceStrangeLinesMax: 3,
  /** The number of attempts to pull an image, with growing pauses: a registry that restarts is back by then. */
  pullAttemptsMax: 4,
  pullRetry: { firstMs: 1_000, lastMs: 15_000, spread: 0.25 },
  /**
   * A pull without progress for this long fails: an engine that unpacks a large layer reports nothing meanwhile. The
   * time limit of a whole pull is a setting.
   */
  pullSilenceMs: 10 * 60_000,
  /** The interval between two lines on the progress of a pull. */
  pullTellMs: 5_000,
  /** The interval of checks whether a container's init has ended, and whether its engine reports how. */
  goneLookMs: 200,
  /** The longest time that an engine may report a container as running after its process has ended. */
  endUnsaidMs: 15_000,
  /** The longest wait for the exit code of a container that ended while its engine was down. */
  engineAwayMs: 60_000,
  /** The number of attempts to create or start a container: Podman's service answers 500 now and then. */
  engineAttemptsMax: 5,
  engineRetry: { firstMs: 250, lastMs: 4_000, spread: 0.25 },
  /** The time limit for removing an ended container; after it, the next check of all containers removes it. */
  removeContainerMs: 15_000,
  /**
   * The interval of checks of a container's memory: an out-of-memory kill of its main process is seen if this comes
   * first.
   */
  memoryLookMs: 250,
  /** The interval of looks whether somebody uses a task, a quarter of its idle_timeout where that is short. */
  useLookMs: 5_000,
  useLookLeastMs: 250,
  /** The interval in which an agent without such a task sees that there is one. */
  useFirstLookMs: 1_000,
  /** The time for the answers of a task at one look. */
  useAnswerMs: 5_000,
  /** A task that does not answer for this long counts as used then. A busy host needs less for an answer. */
  useSilenceMs: 30_000,
  /** The time without an answer after which people read about it. */
  useNoticeMs: 10 * 60_000,
  /** A later use is written to the disk if it is this much later: the answers of a server are not exact. */
  useWrittenMs: 1_000,
  /** The interval of checks for containers of runs that have ended. */
  orphansMs: 10_000,
  /** The interval of looks at a page's server that does not answer yet, and the time and the bytes of one answer. */
  serverLookMs: 200,
  serverAnswerMs: 5_000,
  serverAnswerBytesMax: 256 * 1024,
  /** The lines of a server that did not come in time, in the reason of the end. */
  lateLinesMax: 5,
  /** The longest packages.json, which names a Python. */
  wantedPackagesBytesMax: 256,
  /** The interval of lines about packages that are installed. */
  packagesSaidMs: 10_000,
  /** Lines about processes on its devices that a run gets; a host with more has one cause for all. */
  noticesMax: 20,
  /** The age of a file in /dev/shm that counts as left: a younger one may be on its way to another process. */
  sharedMemoryAgeMs: 60_000,
  /** The least size of files left in /dev/shm that the operator reads about. */
  sharedMemoryFloorBytes: 64 * 1024 ** 2,
  /** The wait before a lost tunnel is dialled again, drawn evenly: a gateway that stops cuts those of all agents. */
  tunnelRedial: { firstMs: 500, lastMs: 10_000 },
  /** The wait after a gateway has refused a run's token. */
  tunnelRefusedMs: 60_000,
  /**
   * The files of a TensorBoard: the least time between two passes, the interval at which the page is asked whether
   * somebody looks, and the time for which a request counts as looking. A page reloads its data every 30 s.
   */
  boards: {
    passMs: 30_000,
    lookMs: 5_000,
    lookedAtMs: 60_000,
    /** The longest time to read one file. */
    readMs: 600_000,
    /** The most files; each takes a lookup of the kernel when TensorBoard looks for new ones. */
    filesMax: 20_000,
    pathBytesMax: 1_024,
  },
  /** The wait for another agent process on the same folder, which may be about to end. */
  folderLockMs: 5_000,
  /** The lines above the screen of a task's terminal that a later viewer gets with it. */
  screenScrollbackLines: 1_000,
  /** A later viewer reads at most so much output after the screen; less costs a screen more often. */
  screenSnapshotBytes: 256 * 1024,
  /** A terminal that was quiet for this time and has written so much has a new screen, small to send. */
  screenQuietMs: 500,
  screenQuietBytes: 4_096,
  /** The terminals of a task that are followed: a holder has at most so many (TERMINALS_MAX in holder.py). */
  screensOfTaskMax: 16,
  /** The terminals of all tasks that are followed: usual ones take 2 MB each, and the largest 18 MB. */
  screensMax: 64,
  /** The longest head of a screen in its frame: three numbers. */
  screenHeadBytes: 256,
  /** The waits for the holder of a task, which starts after its code was unpacked and its image pulled. */
  holderRetry: { firstMs: 100, lastMs: 2_000 },
  /** The time limit of a save after the end of the processes, which holds the slots: 10 GiB on a slow disk. */
  workSaveMs: 15 * 60_000,
  /** The attempts of that save, but for a run that was killed. */
  workAttemptsMax: 3,
  /** The interval in which a launch that restores a folder shows progress. */
  restoreBeatMs: 5_000,
  /** The longest result of the program that saves a folder: some sentences with paths. */
  workResultCharactersMax: 256 * 1024,
  /** The wait before the thread of the screens is started again after an error. */
  screensAgainMs: 1_000,
} as const;

/** The waits for a run that was killed. */
export const killedWaits = {
  reportsBeforeEndMs: limits.beforeKilledEndMs,
  linesBeforeEndMs: limits.beforeKilledEndMs,
  taskLinesBeforeEndMs: limits.beforeKilledEndMs,
  checkpointsBeforeEndMs: limits.beforeKilledEndMs,
  tensorBoardBeforeEndMs: limits.beforeKilledEndMs,
};
