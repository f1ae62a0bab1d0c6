/**
 * The searches that continue after their end, by the name of their algorithm. The decisions of the others depend on the
 * trials that had not ended when they were made (rungs, populations), on a recorded schedule, or on a client that has
 * left.
 */
const continuing: readonly string[] = ["single", "random", "grid", "sobol", "tpe", "gp"];

/** Whether trials that failed or were canceled may be taken up again. */
export function continues(algorithm: string): boolean {
  return continuing.includes(algorithm);
}

/** Whether it may be given more trials than it had. */
export function takesMoreTrials(algorithm: string): boolean {
  return algorithm !== "single" && continues(algorithm);
}
