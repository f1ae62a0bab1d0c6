/** Returns the messages of an error and its causes as one text, without a stack and without repetitions. */
export function retryReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return [...new Set(error.errors.map(retryReason))].join("; ");
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause !== undefined ? retryReason(error.cause) : "";
  return cause === "" || error.message.includes(cause)
    ? error.message
    : `${error.message}: ${cause}`;
}
