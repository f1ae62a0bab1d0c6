/** The limits of the pages of tasks. */
export const taskPageLimits = {
  /** The lifetime of a code that opens a session with a task's host. */
  codeSeconds: 60,
  /** The most codes, and the most sessions, of one token; beyond it the oldest code or the least used session ends. */
  sessionsOfTokenMax: 1_000,
  /** The least interval between two updates of a session's last use. */
  usedEverySeconds: 60,
  /**
   * The longest time for which a session counts as open without another look, and the interval at which the sessions of
   * open requests are looked at.
   */
  freshMs: 1_000,
  /** The most sessions whose last look is remembered. */
  rememberedMax: 10_000,
  /** The time in which the headers of a request arrive, at every host. */
  headersMs: 60_000,
  /** The largest body with a code. */
  codeBodyBytesMax: 1_024,
  /** The connections to a task's server that are kept open between requests. */
  idleConnectionsMax: 8,
  /** The time without a request after which such a connection is closed. */
  idleConnectionMs: 60_000,
  /** The time in which a task's server answers an upgrade. Requests may wait for an answer as long as they like. */
  upgradeMs: 60_000,
} as const;
