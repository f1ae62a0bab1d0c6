/** Wrong usage or input: one sentence, exit code 2, and nothing was changed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Done, and it did not go well: one sentence, exit code 1. */
export class Failure extends Error {
  override readonly name = "Failure";
}
