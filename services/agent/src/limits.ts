/** The limits of what an agent does, each with its reason. */
export const limits = {
  /** An order that so many processes were given and none answered is one that ends them. */
  startersAsked: 3,
  /**
   * The longest wait between two attempts to reach NATS. The scheduler counts an agent as lost 30 s after it hears NATS
   * again: until then each agent must have tried. 1,000 agents then dial about 70 times a second.
   */
  dialWaitLastMs: 20_000,
  /** A report goes out this often without a change; the scheduler's own beat is as long. */
  beatMs: 1_000,
  /** Changes of a folder are announced by the kernel; this is how long one that was not is missed. */
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
  /** How long the logs service has for a batch. */
  writeLinesMs: 10_000,
  /** Waiting between attempts after a fault of the world. */
  retry: { firstMs: 100, lastMs: 5_000, spread: 0.25 },
  /** How long an exit waits for the reports that the process left, so that its validations come before its end … */
  reportsBeforeEndMs: 10_000,
  /** … and for its last lines, so that who follows the log sees them before the end. */
  linesBeforeEndMs: 2_000,
  /** The least time for the same waits of a run that ended while no agent was there, where they may already be over. */
  beforeOldEndMs: 2_000,
  /** The same four for a run that was killed: nobody decides on it any more. */
  beforeKilledEndMs: 1_000,
  /**
   * … and for checkpoints that it left, which the platform mostly completes at once: then nothing of them has to be
   * named. What takes longer the end names, and it is delivered after it: neither the slots nor the next step wait for
   * bytes.
   */
  checkpointsBeforeEndMs: 2_000,
  /**
   * … and for its last TensorBoard files: once the trial's next run has begun, they replace none of those in the store.
   */
  tensorBoardBeforeEndMs: 5_000,
  /** The registry's limit for the reason why a checkpoint can never be sent. */
  failReasonCharactersMax: 1_000,
  /**
   * Checkpoints of a run that a report names, 100 bytes each: of more in one outage the latest are named.
   */
  sealedNamedMax: 32,
  checkpointRequestMs: 30_000,
  /** How long the agent trusts that files it sent are still in the store. */
  sentRememberedMs: 5 * 60_000,
  /** An upload that moves bytes says so every 5 s; one that is silent for this long is ended, and begun again later. */
  uploadSilenceMs: 10 * 60_000,
  /** The metrics service takes this many reports, and this many bytes, at once. */
  reportsPerRequest: 1_000,
  reportBytesPerRequest: 4 * 1024 * 1024 - 16 * 1024,
  reportRequestMs: 30_000,
  /** Asking the registry for an address; then a download may take as long as it brings something. */
  contextPlanMs: 5_000,
  contextSilenceMs: 30_000,
  /** Downloads that did not have the digest asked for, before the launch counts as failed. */
  contextAttemptsMax: 3,
  /** Packed model code kept for the next run of the same experiment; the least recently used goes first. */
  contextCacheBytesMax: 2 * 1024 * 1024 * 1024,
  /** Folders of forgotten runs, kept to look into. Their model code is removed at once. */
  keptRunsMax: 200,
  keptRunsMs: 24 * 60 * 60 * 1_000,
  /** Lines and reports of a forgotten run that nobody took for this long are given up. */
  undeliveredMs: 7 * 24 * 60 * 60 * 1_000,
  cleanUpMs: 60_000,
  /** Removing one folder of a run as its user; the next clean-up continues where this one was. */
  removeFolderMs: 60_000,
  /** The time from the request to stop, which the SDK reads, to SIGTERM: enough to store a checkpoint of some size. */
  stopGraceMs: 10_000,
  /** From SIGTERM to SIGKILL when the host shuts its runs down; then the time to record and report their ends. */
  shutdownGraceMs: 5_000,
  shutdownTellMs: 5_000,
  /** The time between two kills of a process that is slow to die. */
  killAgainMs: 1_000,
  /** One look at /proc may miss what forks in that moment; so many in a row do not. */
  looksToBeSure: 3,
  /**
   * A process that is there this long after its kill is reported: tearing down a large GPU context takes a few seconds.
   */
  tellLeftMs: 10_000,
  /** Between two attempts to write a record for which the disk had no room. */
  writeAgainMs: 1_000,
  /**
   * The SDK writes 2,000 characters into end.json, 24 KiB where each is escaped; a script that writes more is read and
   * cut …
   */
  endRecordBytesMax: 1024 * 1024,
  /** … to this much, which is what the scheduler records. */
  endMessageCharsMax: 2_000,
  /** The maximum of characters kept of an engine's or registry's message, and of a line of the agent's own. */
  saidCharsMax: 2_000,
  /**
   * The SDK's files about a checkpoint: its manifest and its metadata, which the registry takes up to 960 Ki characters
   * of.
   */
  sealedBytesMax: 4 * 1024 * 1024,
  /**
   * Checkpoints of a run's spool that one look takes: a run that fills it with names keeps no other run's report
   * waiting.
   */
  spoolEntriesMax: 10_000,
  /** Files that one look goes over for them, of whatever names: a tenth of a second. */
  spoolLooksMax: 100_000,
  /** An offset into the spool, in digits. */
  acknowledgedBytesMax: 64,
  /**
   * One part of a report: the bus takes messages of 1 MiB, and a part is at most one run longer than it would have to
   * be.
   */
  reportPartBytesMax: 768 * 1024,
  /** nvidia-smi loads the driver where nothing keeps it loaded, which takes seconds for each GPU. */
  deviceProgramMs: 20_000,
  /** Between two looks at the devices: one takes up to a second of the driver. */
  deviceLookMs: 30_000,
  /** A single look that fails, on a host that is busy, withdraws no device; this many in a row do. */
  deviceFailedLooks: 2,
  /** The output limit of one call; a list of 100 GPUs has 20 KiB. */
  deviceOutputBytesMax: 1024 * 1024,
  /** The maximum of characters of a device tool's line in a message. */
  deviceLineCharsMax: 200,
  deviceStrangeLinesMax: 3,
  /** An image is asked for this often, with growing pauses: a registry that restarts is back by then. */
  pullAttemptsMax: 4,
  pullRetry: { firstMs: 1_000, lastMs: 15_000, spread: 0.25 },
  /**
   * No byte and no layer moved: an engine that unpacks a large layer says nothing meanwhile. The total is a setting.
   */
  pullSilenceMs: 10 * 60_000,
  /** Between two lines on the progress of a pull. */
  pullTellMs: 5_000,
  /** Between two looks at whether a container's init is gone, and whether its engine says how. */
  goneLookMs: 200,
  /** So long an engine may say that a container runs whose process is gone. */
  endUnsaidMs: 15_000,
  /** A container has ended and its engine is away: its exit code is waited for so long. */
  engineAwayMs: 60_000,
  /**
   * A call that makes or starts a container and fails is repeated so often: Podman's service answers 500 now and then.
   */
  engineAttemptsMax: 5,
  engineRetry: { firstMs: 250, lastMs: 4_000, spread: 0.25 },
  /** Removing a container that is over; where it takes longer the next look at all containers removes it. */
  removeContainerMs: 15_000,
  /**
   * Between two looks at a container's memory: an out-of-memory kill of its main process is seen if this comes first.
   */
  memoryLookMs: 250,
  /** Between two looks for containers of runs that are over. */
  orphansMs: 10_000,
  /** Another agent process on the same folder may be about to end. */
  folderLockMs: 5_000,
} as const;

/** The waits for a run that was killed. */
export const killedWaits = {
  reportsBeforeEndMs: limits.beforeKilledEndMs,
  linesBeforeEndMs: limits.beforeKilledEndMs,
  checkpointsBeforeEndMs: limits.beforeKilledEndMs,
  tensorBoardBeforeEndMs: limits.beforeKilledEndMs,
};
