/**
 * The limits of an experiment's configuration, each with its reason. The document's size is kernel's configBytesMax.
 */
export const configLimits = {
  /**
   * Configurations of people are under ten levels deep; protobuf readers commonly give up at 100, and each level costs
   * them two.
   */
  documentDepthMax: 32,
  /** A workspace is named in each commit of its experiments, whose attributes hold 1 KiB: four bytes a character. */
  workspaceCharactersMax: 255,
  /**
   * Values in the document with aliases expanded: the largest document without aliases has fewer, a bomb has millions.
   */
  documentValuesMax: 60_000,
  /** A document with more problems than this is of another kind; the rest are counted. */
  problemsMax: 50,
  /** The searcher keeps a fold of every trial of a running search in memory, about half a kilobyte each. */
  trialsPerSearchMax: 1_000_000,
  /** Early-stopping policies in one list: each is asked at every validation, and a longer list is a mistake. */
  policiesMax: 16,
  /**
   * Log policies of one experiment, and the characters of a pattern: each is compared with every line of its trials.
   */
  logPoliciesMax: 32,
  logPatternCharactersMax: 1_000,
  /**
   * Instructions of a compiled pattern: the time for a character grows with them. What people write has under a
   * hundred.
   */
  logPatternInstructionsMax: 500,
  /** Restarts beyond this are a loop. */
  restartsMax: 1_000_000,
  /** A day: others wait for so long at most until a run that makes room has written its checkpoint. */
  preemptionTimeoutMaxSeconds: 86_400,
  /** Labels in one rule of `resources.constraints`: each is looked at for each agent. */
  labelRulesMax: 32,
  /** Agents that a run excludes by name: every placement compares each. Labels can exclude more. */
  excludedAgentsMax: 64,
  /** Weights of jobs, other than 0 for none: what schedulers divide by without loss. */
  weightMin: 0.001,
  weightMax: 1_000,
  /** The pool's priorities, as Determined has them. */
  priorityMax: 99,
} as const;
