/** The limits of the experiments service, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  /**
   * The time for a checkpoint at a pause if the plan names no preemption timeout. It is Determined's default, for which
   * its users' scripts are written.
   */
  preemptionGraceMs: 3_600_000,
  /** The time for a last checkpoint after a stop by the search. It is short, because other runs wait for the slots. */
  searchStopGraceMs: 60_000,
  /** The time for a last checkpoint after a cancel. It is short, because a person waits for it. */
  cancelGraceMs: 60_000,
  /** The latest complete checkpoints that a trial remembers to start from; older ones are rarely needed. */
  checkpointsRemembered: 16,
  /**
   * The runs without a new checkpoint that may fail because of hosts or platform. After five in a row the run itself is
   * probably the cause, and more attempts would only harm other runs.
   */
  lostTriesMax: 5,
  /**
   * The failed runs of a trial that are excused because hosts or platform were to blame. A trial whose script always
   * fails has to end even if others fail beside it each time.
   */
  excusedMax: 5,
  /** The default delay of the run after a failed one, which doubles with each failure in a row, and the longest one. */
  tryDelayFirstMs: 1_000,
  tryDelayLastMs: 5 * 60 * 1_000,
  /**
   * The delays after failures of the platform are this many times as long, so that `lostTriesMax` attempts outlast a
   * file server that is away for some minutes.
   */
  platformDelayFactor: 30,
  /** A run that fails after this time does not fail because of its start, so the delays begin again. */
  trainedMs: 10 * 60 * 1_000,
  /** The latest agents with failed runs that a trial avoids. */
  avoidedAgentsMax: 16,
  /** The most trials that one reaction advances; more are advanced by a fan-out, so that other events do not wait. */
  trialsPerReactionMax: 64,
  /** The trials of one part of a fan-out, which is decided and committed in a few milliseconds each. */
  trialsPerPart: 64,
  /** A fan-out's progress is saved after this many parts, which a new holder repeats. */
  fanOutsSavedEveryParts: 16,
  /**
   * The longest wait of the next run for checkpoints that the last one has left, from its end. A database or a gateway
   * restarts within that time. After it, training continues from an older checkpoint.
   */
  checkpointsWaitMs: 10 * 60 * 1_000,
  /** The reading rate of a slow disk, by which the wait for large checkpoints is extended. */
  checkpointBytesPerMs: 50_000,
  /**
   * The longest wait for checkpoints: a terabyte at the reading rate above. The sizes come from the script and may be
   * wrong.
   */
  checkpointsWaitLastMs: 6 * 60 * 60 * 1_000,
  /** The default grace of a deleted experiment in seconds. */
  deletionGraceSeconds: 7 * 24 * 60 * 60,
  /**
   * The longest texts about an experiment. They are part of an event of at most 256 KiB, and of each answer about it.
   */
  nameCharactersMax: 255,
  descriptionBytesMax: 4 * 1_024,
  notesBytesMax: 32 * 1_024,
  labelsMax: 64,
  labelCharactersMax: 255,
  /** The longest message in an event: as much as a table can show. Longer ones are in the logs. */
  messageCharsMax: 2_000,
  /** The longest exit messages of all nodes of a run. At six bytes a character they fill less than half of an event. */
  exitCharsMax: 16_000,
  /** The latest runs of a trial whose failure a log policy has made final. */
  finalRunsMax: 64,
  /** The maximum of `max_trials` in a configuration. */
  trialsMax: 1_000_000,
  /** The default maximum of unended tasks of a workspace: more are probably a script that has gone wrong. */
  tasksPerWorkspaceMax: 100,
  /** The most agents that log policies exclude for a trial: placement checks each of them for every run. */
  excludedAgentsMax: 64,
} as const;
