export const schedulingLimits = {
  /** Runs of no slots beside each other on one agent: each is a process with its own Python. */
  slotlessPerAgentMax: 100,
  /** Nodes of one allocation: its grant is one event, and rendezvous beyond this wants another design. */
  nodesPerAllocationMax: 1_024,
  /**
   * Nodes of a reservation that a grant puts on record beside its own: two of the largest would not fit into one event.
   */
  reservedNodesRecordedMax: 256,
  /** Grants of one pass: what follows is the next pass's, so that reports are heard in between. */
  grantsPerPassMax: 128,
  /** Weights between which sums and quotients stay exact enough for whole slots; 0 is no weight. */
  weightMin: 0.001,
  weightMax: 1_000,
  /** The best priority: ageing ends there. */
  bestPriority: 1,
  /** Agents that a reservation considers because they have free slots: beyond these the oldest runs decide. */
  freestLookedAtMax: 64,
  /** Runs with a time limit whose ends a reservation considers: a large run fits before, or waits for others too. */
  limitedLookedAtMax: 256,
  /** Runs that one explanation names. */
  blockersNamedMax: 16,
  /** Agents that one explanation names: it is read in a line of a table. */
  blocksNamedMax: 3,
  /**
   * Sets of constraints whose agents are kept in an index. Each index is about 200 bytes an agent; one that is built
   * anew looks at each agent once.
   */
  viewsMax: 128,
} as const;
