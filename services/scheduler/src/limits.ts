/** The limits of this service's decisions, each with its reason. */
export const limits = {
  /** Most backlog events decided in one commit: a few milliseconds of processor time. */
  eventsTogetherMax: 64,
  /** The age of the census of a scrape: it visits all runs, tens of milliseconds for 100,000. */
  censusMs: 1_000,
  priorityMin: 1,
  priorityMax: 99,
  /** Determined's default, long enough for the checkpoint of a large model. */
  preemptionTimeoutMs: 3_600_000,
  /** A day: a run that others wait for ends within it, even if a longer timeout was recorded. */
  preemptionTimeoutMaxMs: 86_400_000,
  /** The silence after which an agent counts as lost, longer than a restart of the services on its host. */
  agentSilenceMs: 30_000,
  /** A lease that nobody had renewed for longer than this says that the scheduler was off, and perhaps all else. */
  leaseIdleMs: 60_000,
  /**
   * The time for which the first report of an agent with runs is waited for after everything was off: as long as hosts
   * and people take to start.
   */
  firstWordGraceMs: 600_000,
  /** Agents that fall silent within this time of each other have probably one cause. */
  massSilenceWithinMs: 60_000,
  /** The number of agents that must fall silent together: one says nothing about a common cause. */
  massSilenceAgents: 2,
  /** The part of the agents that must fall silent together, more than this. */
  massSilencePart: 1 / 3,
  /** The time for which agents that fell silent together are waited for: long enough to repair a network. */
  massSilenceWaitMs: 600_000,
  /** The agents that one event names: with the longest names it stays below an event's 256 KiB. */
  silentNamedMax: 1_000,
  /**
   * The time after the loss of an agent at which its runs end, also without a place elsewhere: then the runs that
   * follow compete in the queue. Most hosts that return have started again within it.
   */
  awayMaxMs: 120_000,
  /** A week: an agent that was lost for longer is forgotten. */
  forgetLostMs: 7 * 86_400_000,
  /** The interval of wanted lists and probes, after which a lost message is repeated. */
  beatMs: 1_000,
  /** The time without the own probe after which the connection counts as down: three beats. */
  probeGapMs: 3_000,
  /**
   * A launch without progress for this long is ended: longer than an agent waits for a piece of code before it retries.
   */
  launchSilenceMs: 180_000,
  /**
   * The free disk space below which an agent gets no runs: a launch writes its records, its code packed and unpacked,
   * and its first lines.
   */
  diskFloorBytes: 256 * 1024 * 1024,
  /**
   * The free disk space above which an agent gets runs again, so far above the floor that temporary files do not cross
   * both.
   */
  diskFreedBytes: 320 * 1024 * 1024,
  /**
   * The time after its start in which a run that fails is held against its host, as Python and its data are loaded; a
   * run that is up for longer speaks for the host.
   */
  hostProofMs: 60_000,
  /** The number of different experiments whose runs must fail in a row: the failures of one may be its own. */
  distrustExperiments: 2,
  /** The number of trials of one experiment that must fail in a row, if a run of the experiment does well elsewhere. */
  distrustTrials: 3,
  /** The number of failures kept per agent, more than most agents have slots. */
  hostFailuresMax: 32,
  /** The number of experiments whose runs fail on several agents at once when a service that they share is away. */
  platformExperiments: 3,
  platformWindowMs: 60_000,
  /** The number of failures kept of all agents, more than enough to see that several experiments fail. */
  recentFailuresMax: 64,
  /**
   * The first time for which a distrusted agent gets no runs, doubled each time; enough for a restart of the failed
   * part.
   */
  distrustFirstMs: 30_000,
  /** The longest time for which a distrusted agent gets no runs: a repaired host may go unnoticed for as long. */
  distrustLastMs: 600_000,
  /** The number of experiments that a record of failures names; a person needs the first few. */
  distrustNamedMax: 8,
  /** The number of refused starts kept for one name: one is a mistake, eight are a cloned rack. */
  refusedStartsMax: 8,
  /**
   * The most by which an agent's highest epoch may be ahead: a term per second for a century. A larger number is no
   * scheduler's epoch.
   */
  epochStepMax: 2 ** 32,
  /** No epoch above this is believed, so that all following ones are exact whole numbers. */
  epochMax: 2 ** 52,
  /** A wait shorter than this needs no explanation. */
  explainAfterMs: 2_000,
  explainAgainMs: 60_000,
  /** The most explanations recorded per beat, those of the first runs in the queue. */
  explainedPerBeatMax: 64,
  /** The most runs in an answer about an experiment: each has a few hundred bytes, and a reader needs the first. */
  explainedPerJobMax: 64,
  /** The most experiments in one answer: their texts are bounded, so that the answer stays below a message's 1 MiB. */
  jobsListedMax: 1_000,
  /** The longest description of a pool: a paragraph, since all pools are in one answer. */
  descriptionCharsMax: 1_000,
  quotasMax: 256,
  /** Each run without slots is a process with its own Python interpreter: a host of 1,000 has other limits. */
  slotlessPerAgentMax: 1_000,
  /** Far more slots, and more agents, than a pool has. */
  poolSlotsMax: 1_000_000,
  /** The limit of an experiment's configuration for the name of a workspace. */
  workspaceCharsMax: 255,
  /**
   * The most bytes of launches in one list: the server accepts messages of 1 MiB, a configuration may have 96 KiB, and
   * states and forgets need space.
   */
  launchBytesPerWantedMax: 512 * 1024,
  /** The most ended allocations that one message asks an agent to forget; the next one names more. */
  forgetPerWantedMax: 1_000,
  /** The most streams in one commit of the reconciliation: half of the log's limit. */
  streamsPerCommitMax: 128,
  /**
   * The number of rounds before messages are sent: few, so that the first of a thousand launches does not wait for the
   * last.
   */
  roundsPerTurnMax: 4,
  /**
   * The number of rounds in a row after which a warning is logged: the queue is very long, or decisions change nothing.
   */
  roundsWithoutRestMax: 1_000,
  /** The number of positions after which the fold is saved, so that the next term starts with a short tail. */
  snapshotPositions: 2_000,
  /** The shortest time between two snapshots. */
  snapshotMs: 5_000,
  /**
   * The most checkpoints that one event names, 100 bytes each: of one run, and of all runs that an agent brings back.
   */
  sealedOfRunMax: 32,
  sealedOfAgentMax: 512,
  /** The number of runs that a refusal names. */
  runsNamedMax: 3,
  /** The number of an agent's notices that are recorded. */
  noticesMax: 20,
  /** The longest reason in an event. */
  messageCharsMax: 2_000,
  /**
   * The length of all exits of one end: with every character escaped, 1,000 nodes and the other texts stay below an
   * event's 256 KiB.
   */
  exitMessagesCharsMax: 16_000,
  /** The length of a text after the log has refused the decision with the longer one. */
  barestCharsMax: 200,
  /**
   * The time after which a decision that the log refused is tried again: once the cause is repaired, it succeeds soon
   * after.
   */
  setAsideMs: 60_000,
  /** The most parts of one report: 48 MiB, enough for more than 100,000 runs on one agent. */
  reportPartsMax: 64,
  /** The most incomplete reports of all agents; the oldest are dropped. */
  reportsBegunMax: 64,
  /**
   * Rendezvous ports are below those that Linux gives to clients (from 32768 on) and above those that servers usually
   * use.
   */
  masterPortFirst: 20_000,
  masterPorts: 2_500,
  /** The number of ports of a run: the rendezvous port and the next ones, for its launchers and its processes. */
  portsPerRun: 4,
  /** The default idle_timeout of a TensorBoard: nothing is lost by its end, and a new one has the same files. */
  tensorboardIdleMs: 5 * 60 * 1_000,
} as const;
