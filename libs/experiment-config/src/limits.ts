/** The limits of an experiment's configuration. The document's maximum size is kernel's configBytesMax. */
export const configLimits = {
  /**
   * The maximum depth. Real configurations have under ten levels; protobuf readers commonly fail at 100, and each level
   * counts twice for them.
   */
  documentDepthMax: 32,
  /**
   * The maximum length of a workspace's name, which is in the attributes of each commit: these have 1 KiB, and a
   * character up to four bytes.
   */
  workspaceCharactersMax: 255,
  /**
   * The maximum number of values after the expansion of aliases: a document without aliases has fewer, and an alias
   * bomb has millions.
   */
  documentValuesMax: 60_000,
  /** The maximum number of reported problems; further ones are only counted. */
  problemsMax: 50,
  /** The searcher keeps the state of every trial of a running search in memory, about half a kilobyte each. */
  trialsPerSearchMax: 1_000_000,
  /**
   * The maximum number of early-stopping policies in one list: each is evaluated at every validation, and a longer list
   * is a mistake.
   */
  policiesMax: 16,
  /**
   * The maximum number of log policies of one experiment, and the maximum length of a pattern: every line of a trial is
   * compared with each.
   */
  logPoliciesMax: 32,
  logPatternCharactersMax: 1_000,
  /**
   * The maximum number of instructions of a compiled pattern, because matching takes proportional time; ordinary
   * patterns have under a hundred.
   */
  logPatternInstructionsMax: 500,
  /** More restarts are an endless loop. */
  restartsMax: 1_000_000,
  /** One day: the longest that other runs wait until a preempted run has written its checkpoint. */
  preemptionTimeoutMaxSeconds: 86_400,
  /** Thirty days: a longer time without use means never, which 0 says. */
  idleTimeoutMaxSeconds: 2_592_000,
  /** One day: a server that starts so slowly has a fault. */
  readyTimeoutMaxSeconds: 86_400,
  /** The maximum number of labels in one rule of `resources.constraints`: each is checked for each agent. */
  labelRulesMax: 32,
  /**
   * The maximum number of agents that a run excludes by name: every placement compares each. Labels can exclude more.
   */
  excludedAgentsMax: 64,
  /** The range of weights, except 0 for no weight: schedulers can divide by these without loss of precision. */
  weightMin: 0.001,
  weightMax: 1_000,
  /** The highest priority, as in Determined. */
  priorityMax: 99,
} as const;
