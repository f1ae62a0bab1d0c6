/** The limits of what this service decides, each with its reason. */
export const limits = {
  /** A pause waits for the script's own checkpoint; Determined's preemption timeout, which its users' scripts are written for. */
  preemptionGraceMs: 3_600_000,
  /** What the search has stopped holds slots that others wait for: time for a last checkpoint, no more. */
  searchStopGraceMs: 60_000,
  /** A person waits for a cancel to take effect. */
  cancelGraceMs: 60_000,
  /** Complete checkpoints that a trial remembers as places to start from; older ones are only ever a last resort. */
  checkpointsRemembered: 16,
  /** A run that could not be launched on so many agents, one after the other, has its reason in itself: its trial ends. */
  launchAgentsMax: 3,
  /** Launches in a row that failed where there are fewer agents: with the delays between them, a minute and a half. */
  launchAttemptsMax: 8,
  /** The first run after one that never started is placed at once, the next after this long, each later one after twice the time. */
  launchDelayFirstMs: 1_000,
  launchDelayLastMs: 60_000,
  /** Longer messages are for logs; an event keeps what a table can show. */
  messageCharsMax: 2_000,
} as const;
