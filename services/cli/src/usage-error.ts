/** Wrong usage or input: it is printed as one sentence, with exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * A command that ran and failed. The error is printed as one sentence, with exit code 1, or with that of a command on
 * the cluster which this one stands for.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
