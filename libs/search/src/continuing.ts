/**
 * The searches that may continue after their end, by algorithm. The decisions of other algorithms depend on trials that
 * were open when they were made (rungs, populations), on a recorded schedule, or on a client that has left.
 */
const continuing: readonly string[] = ["single", "random", "grid", "sobol", "tpe", "gp"];

/** Whether failed and canceled trials of a search by this algorithm may be reopened. */
export function continues(algorithm: string): boolean {
  return continuing.includes(algorithm);
}

/** Whether a search by this algorithm may get more trials when it continues. */
export function takesMoreTrials(algorithm: string): boolean {
  return algorithm !== "single" && continues(algorithm);
}
