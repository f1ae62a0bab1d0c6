/** The limits of what this service decides, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  /**
   * A pause waits for the script's own checkpoint; Determined's preemption timeout, which its users' scripts are
   * written for.
   */
  preemptionGraceMs: 3_600_000,
  /** A run that the search has stopped holds slots that others wait for: time for a last checkpoint, no more. */
  searchStopGraceMs: 60_000,
  /** A person waits for a cancel to take effect. */
  cancelGraceMs: 60_000,
  /** Complete checkpoints that a trial remembers as places to start from; older ones are only ever a last resort. */
  checkpointsRemembered: 16,
  /**
   * A run that could not be launched on so many agents, one after the other, has its reason in itself: its trial ends.
   */
  launchAgentsMax: 3,
  /** Launches in a row that failed where there are fewer agents: with the delays between them, a minute and a half. */
  launchAttemptsMax: 8,
  /**
   * The first run after one that never started is placed at once, the next after this long, each later one after twice
   * the time.
   */
  launchDelayFirstMs: 1_000,
  launchDelayLastMs: 60_000,
  /** Trials that one reaction looks at: more are brought along beside the reactions, so that nobody waits for them. */
  trialsPerReactionMax: 64,
  /** Trials of one part of a fan-out: a few milliseconds of deciding, and one commit of a few milliseconds. */
  trialsPerPart: 64,
  /**
   * How far a fan-out has come is saved after so many parts of it, and when the log has grown by this much: what a new
   * holder does again, or reads.
   */
  fanOutsSavedEveryParts: 16,
  fanOutsSavedEveryEvents: 20_000,
  /**
   * How long the next run waits for checkpoints that the one before has left, counted from its end: a restart of a
   * database or a gateway is over by then, and training continues from an older one where it is not.
   */
  checkpointsWaitMs: 10 * 60 * 1_000,
  /** … and longer where the registry has much to read, at this rate of a slow disk … */
  checkpointBytesPerMs: 50_000,
  /** … but never longer than this, which at that rate is a terabyte: the sizes are the script's own word. */
  checkpointsWaitLastMs: 6 * 60 * 60 * 1_000,
  /** The times until which trials wait are saved each time the log has grown by this much: what a new holder reads. */
  awaitingSavedEveryEvents: 20_000,
  /** How long a deleted experiment can be brought back, unless the cluster says otherwise. */
  deletionGraceSeconds: 7 * 24 * 60 * 60,
  /** The graces of deletions are saved each time that the log has grown by this much: what a new holder reads. */
  deletionsSavedEveryEvents: 20_000,
  /** The ends of graces are looked for at least so often, should the host's clock be set. */
  deletionsLookMs: 60_000,
  /** Words about an experiment are part of an event of at most 256 KiB, and of each answer about it. */
  nameCharactersMax: 255,
  descriptionBytesMax: 4 * 1_024,
  notesBytesMax: 32 * 1_024,
  labelsMax: 64,
  labelCharactersMax: 255,
  /** Longer messages are for logs; an event keeps what a table can show. */
  messageCharsMax: 2_000,
  /**
   * All that the nodes of one run say of their exits: at six bytes a character less than half of what an event holds.
   */
  exitCharsMax: 16_000,
  /** Runs of a trial whose failures log policies have made final: the latest decide. */
  finalRunsMax: 64,
  /** The maximum of `max_trials` in a configuration. */
  trialsMax: 1_000_000,
  /** Agents that log policies have excluded for a trial; placement of its runs checks each of them. */
  excludedAgentsMax: 64,
} as const;
