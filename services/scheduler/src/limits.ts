/** The limits of what this service decides, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  priorityMin: 1,
  priorityMax: 99,
  /** Determined's default: long enough for the checkpoint of a large model. */
  preemptionTimeoutMs: 3_600_000,
  /** A day: a run that others wait for ends within it, whatever was recorded for it. */
  preemptionTimeoutMaxMs: 86_400_000,
  /**
   * An agent is silent for this long before it counts as lost: longer than a restart of its host's services, shorter
   * than a coffee.
   */
  agentSilenceMs: 30_000,
  /** Wanted lists and probes go out this often; a lost message heals within it. */
  beatMs: 1_000,
  /** Three beats without hearing the own probe, and the link does not count as up. */
  probeGapMs: 3_000,
  /** A start of an agent that is silent for two beats while another speaks under its name is over. */
  incarnationSilenceMs: 2_500,
  /**
   * A launch that shows no progress for this long is ended: longer than an agent waits for a piece of code and asks
   * again.
   */
  launchSilenceMs: 180_000,
  /**
   * Nothing is placed where less is left: a launch writes its records, its code packed and unpacked, and its first
   * lines.
   */
  diskFloorBytes: 256 * 1024 * 1024,
  /** Enough above the floor that what a run writes in passing does not go back and forth over it. */
  diskFreedBytes: 320 * 1024 * 1024,
  /** Launches of so many experiments failed on an agent in a row: of one, it may be the experiment. */
  distrustExperiments: 2,
  /**
   * The time for which a distrusted agent gets nothing, twice as long each time: the first ends with a restart of what
   * it lacks …
   */
  distrustFirstMs: 30_000,
  /** … and the last is as long as a host that somebody mends goes unnoticed, where nobody says so. */
  distrustLastMs: 600_000,
  /** Experiments that a record of failures names: a person looks at the first. */
  distrustNamedMax: 8,
  /** Starts of agents that ask for one name that another holds: one is a mistake, eight are a cloned rack. */
  refusedStartsMax: 8,
  /**
   * How far an agent's highest epoch may be ahead: a term a second for a century. What is beyond is no scheduler's
   * number …
   */
  epochStepMax: 2 ** 32,
  /** … and above this no epoch is believed, so that all that may still follow is a whole number. */
  epochMax: 2 ** 52,
  /** A wait shorter than this needs no explanation. */
  explainAfterMs: 2_000,
  explainAgainMs: 60_000,
  /** Explanations of one beat: who is further back in the queue is behind these. */
  explainedPerBeatMax: 64,
  /** Runs of one answer about an experiment: each has a few hundred bytes, and a reader looks at the first. */
  explainedPerJobMax: 64,
  /** Experiments of one answer: their texts are bounded, so that the answer stays below a message's 1 MiB. */
  jobsListedMax: 1_000,
  /** The characters of a pool's description: a paragraph. All pools are in one answer. */
  descriptionCharsMax: 1_000,
  quotasMax: 256,
  /** The limit of an experiment's configuration. */
  workspaceCharsMax: 255,
  /** The server takes messages of 1 MiB; a configuration may have 96 KiB, and states and forgets need their room. */
  launchBytesPerWantedMax: 512 * 1024,
  /** Ended allocations that one message asks an agent to forget; the next names the rest. */
  forgetPerWantedMax: 1_000,
  /** Streams of one commit of the reconciliation: half of what the log takes. */
  streamsPerCommitMax: 128,
  /**
   * Rounds of deciding before messages go out: few, so that the first of a thousand launches does not wait for the
   * last.
   */
  roundsPerTurnMax: 4,
  /** The rounds in a row that mean a very long queue, or decisions that change nothing: someone should look. */
  roundsWithoutRestMax: 1_000,
  /** A fold is saved after this many positions, so that the next term starts with a short tail. */
  snapshotPositions: 2_000,
  /** And not more often than this. */
  snapshotMs: 5_000,
  /** Checkpoints that one event names, 100 bytes each: of a run, and of all runs that an agent brings back. */
  sealedOfRunMax: 32,
  sealedOfAgentMax: 512,
  /** Runs that a refusal names. */
  runsNamedMax: 3,
  /** Longer reasons are for logs. */
  messageCharsMax: 2_000,
  /**
   * All exits of one end together: with every character escaped, 1,000 nodes and the other texts they stay below an
   * event's 256 KiB.
   */
  exitMessagesCharsMax: 16_000,
  /** The rest of a text when the log has refused the decision that held it. */
  barestCharsMax: 200,
  /**
   * A decision that the log refuses is not taken again for this long: who mends what is wrong sees it continue soon
   * after.
   */
  setAsideMs: 60_000,
  /** Parts of one report: 48 MiB, which is more than 100,000 runs on one agent. */
  reportPartsMax: 64,
  /** Reports of which parts are missing, of all agents; the oldest go. */
  reportsBegunMax: 64,
  /** Rendezvous ports are below what Linux gives to clients (32768) and above what servers like. */
  masterPortFirst: 20_000,
  masterPorts: 2_500,
  /**
   * A run has its rendezvous port and those up to the next one's: for its launchers, and for what its processes say to
   * each other.
   */
  portsPerRun: 4,
} as const;
