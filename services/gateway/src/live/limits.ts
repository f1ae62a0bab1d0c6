/** The limits of streams to watchers. */
export const liveLimits = {
  /** The most topics of one Watch. */
  watchTopicsMax: 64,
  /**
   * The most distinct topics of one caller at one gateway, and of all callers: each is queried for each page of events.
   */
  watchTopicsOfOneMax: 512,
  watchTopicsOfAllMax: 8_192,
  /**
   * The watchers' queries to the read model that run at once, and those of one caller. Lists have other connections.
   */
  watchQueries: { max: 3, ofOneMax: 2 },
  /** The watchers' queries to the stores of points and lines that run at once, and those of one caller. */
  watchLooks: { max: 8, ofOneMax: 4 },
  /** The most events after which a watcher can resume; one that is further behind reads its lists again. */
  watchResumedMax: 10_000,
  /** The most characters of frames that wait for one watcher; a slower one is disconnected. */
  watchQueuedCharactersMax: 4 * 1024 * 1024,
  /** The pause before a query that failed is repeated. */
  watchRetryMs: 1_000,
  /**
   * The least pause between two queries of one follower, so that single reports are read together. It is far below 200
   * ms.
   */
  pointLookMs: 20,
} as const;
