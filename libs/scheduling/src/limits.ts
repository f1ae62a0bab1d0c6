export const schedulingLimits = {
  /** The most runs without slots on one agent; each is a process with its own Python interpreter. */
  slotlessPerAgentMax: 100,
  /**
   * The most nodes of one allocation: its grant is a single event, and more nodes would need another rendezvous design.
   */
  nodesPerAllocationMax: 1_024,
  /**
   * The most nodes of a reservation that a grant's event records; two allocations of the largest size exceed one event.
   */
  reservedNodesRecordedMax: 256,
  /**
   * The longest time for which a run waits for other agents than those where it failed: enough for most of a pool's
   * short runs to end, and short beside the wait of a run whose script was at fault.
   */
  avoidMs: 120_000,
  /** The most grants of one pass; the next pass grants the rest, so that reports are handled in between. */
  grantsPerPassMax: 128,
  /**
   * The bounds of a job's weight, within which sums and quotients are exact enough for whole slots; 0 means no weight.
   */
  weightMin: 0.001,
  weightMax: 1_000,
  /** The best priority, at which ageing stops. */
  bestPriority: 1,
  /** The time within which most runs start after their grant, also containers whose image is pulled. */
  launchAllowanceMs: 300_000,
  /** Long enough for a run to load its data and to make its first progress. */
  preemptExemptMs: 120_000,
  /**
   * The most agents with free slots that a reservation considers; beyond them it takes runs in the order of their
   * grants.
   */
  freestLookedAtMax: 64,
  /** The most runs with a time limit whose ends a reservation considers. */
  limitedLookedAtMax: 256,
  /** The most runs that one explanation names. */
  blockersNamedMax: 16,
  /** The most agents that one explanation names, since a table shows it on one line. */
  blocksNamedMax: 3,
  /** The excluded agents that an explanation names; it counts the rest. */
  agentsNamedMax: 8,
  /**
   * The most sets of constraints whose agents are indexed. An index takes about 200 bytes per agent; rebuilding an
   * evicted index visits each agent once.
   */
  viewsMax: 128,
} as const;
