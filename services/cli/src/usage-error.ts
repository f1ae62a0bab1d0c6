/** Wrong usage or input: it is printed as one sentence, with exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A command that ran and failed. The error is printed as one sentence, with exit code 1. */
export class Failure extends Error {
  override readonly name = "Failure";
}
